// Tensors as arguments and results of functions that nanobind binds.
//
//   #include <nanobind/nanobind.h>
//   #include "dovetail/python/casters/nanobind.h"
//
//   using dovetail::Arg, dovetail::Contiguous, dovetail::OwnedTensor, dovetail::Shape;
//
//   NB_MODULE(kernels, m) {
//     m.def("scale", [](Arg<float, Contiguous> x, float factor) {
//       for (float& value : x) value *= factor;
//     });
//     m.def("ones", [](Arg<const float> like) { ... return OwnedTensor::EmptyLike(like); });
//   }
//
// Results (OwnedTensor, and dovetail::Tensor in a program that links Dovetail) become an object of
// the class of the first tensor argument: torch in, torch out. std::optional<Arg<…>> takes None,
// a std::vector<Arg<…>>, of a list or tuple, and a std::map<std::string, Arg<…>>, of a dict. No
// other container may hold an Arg: its memory is borrowed for the argument alone. Overloads are
// told apart by what their Args require; a function without overloads raises an error that says
// what is wrong with the argument (overloads.h).
//
// Needs the dovetail package at run time, or Dovetail linked in (capi.h).

#ifndef DOVETAIL_PYTHON_CASTERS_NANOBIND_H_
#define DOVETAIL_PYTHON_CASTERS_NANOBIND_H_

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dovetail/python/arg.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/casters/call_frame.h"
#include "dovetail/python/casters/carrier.h"
#include "dovetail/python/casters/signature.h"
#include "dovetail/python/owned_tensor.h"

#ifdef DOVETAIL_CAPI_LINKED
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#endif

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

template <size_t... kIndices>
constexpr auto NanobindName(const Text& text, std::index_sequence<kIndices...>) {
  return nanobind::detail::descr<sizeof...(kIndices)>{text.letters[kIndices]...};
}
template <typename Carrier>
constexpr auto NanobindName() {
  constexpr Text kText = Carrier::kText;
  return NanobindName(kText, std::make_index_sequence<kText.size>());
}
// Of a Kernel's results.
template <typename... Values>
constexpr auto NanobindNameOfResults() {
  using nanobind::detail::concat;
  using nanobind::detail::const_name;
  constexpr bool kIsTuple = sizeof...(Values) > 1;
  return const_name<kIsTuple>("tuple[", "") +
         concat(NanobindName<Signature<typename Values::Facts>>()...) +
         const_name<kIsTuple>("]", "");
}

// The first tensor argument of the call. Casters append their arguments to nanobind's list, which
// keeps them until the call ends. nanobind appends the collections and names of other arguments.
inline PyObject* LikeOf(const void* cleanup_list) {
  const auto* cleanup = static_cast<const nanobind::detail::cleanup_list*>(cleanup_list);
  for (size_t i = 1; cleanup != nullptr && i < cleanup->size(); ++i) {
    PyObject* const object = (*cleanup)[i];
    if (!PyTuple_Check(object) && !PyDict_Check(object) && !PyUnicode_Check(object)) return object;
  }
  return nullptr;
}

// An error of an argument that is no mismatch. nanobind's casters of containers are noexcept, so
// that their elements must not throw when they are loaded: the function's call throws.
class HeldError {
 public:
  HeldError() = default;
  // What no call threw, as in a container, is reported as unraisable.
  ~HeldError() {
    if (type_ != nullptr) Report();
  }
  HeldError(const HeldError&) = delete;
  HeldError& operator=(const HeldError&) = delete;

  bool is_set() const { return type_ != nullptr; }
  // Holds the error that is set, in place of an earlier one.
  void Take() {
    if (is_set()) Report();
    PyErr_Fetch(&type_, &value_, &traceback_);
  }
  void Throw() {
    PyErr_Restore(std::exchange(type_, nullptr), value_, traceback_);
    throw nanobind::python_error();
  }

 private:
  [[gnu::noinline, gnu::cold]] void Report() {
    nanobind::error_scope in_flight;
    const bool is_interrupt = PyErr_GivenExceptionMatches(type_, PyExc_KeyboardInterrupt) != 0;
    PyErr_Restore(std::exchange(type_, nullptr), value_, traceback_);
    if (!is_interrupt) return PyErr_WriteUnraisable(nullptr);
    PyErr_Clear();
    PyErr_SetInterrupt();  // raised again when the call has ended
  }

  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

#ifndef DOVETAIL_SET_ERROR
#define DOVETAIL_SET_ERROR
template <>
struct SetError<void> {
  [[noreturn]] static void Throw() {
    const HeldGil gil;
    throw nanobind::python_error();
  }
};
#endif

// A caster of borrowed tensors. The cleanup list of a call is the key of its attempts, of which one
// is in progress at a time.
template <typename V>
class NanobindCaster {
 public:
  using Value = V;
  // (nanobind itself adds "| None" for an Out.)
  static constexpr auto Name =
      NanobindName<std::conditional_t<kMakesResult<V>, TensorCarrier<V>, Carrier<V>>>();
  template <typename T_>
  using Cast = std::conditional_t<std::is_reference_v<T_>, const V&, V>;
  // The casters of containers ask this, and functions do not.
  template <typename T_>
  static constexpr bool can_cast() {
    static_assert(std::is_void_v<T_>,
                  "An Arg is an argument itself, or in a std::optional, a std::vector or a "
                  "std::map<std::string, …> that is one.");
    return false;
  }

  NanobindCaster() { frame_.NoteMade(); }
  ~NanobindCaster() {
    carrier_.Release();
    frame_.NoteDestroyed();
  }
  NanobindCaster(const NanobindCaster&) = delete;
  NanobindCaster& operator=(const NanobindCaster&) = delete;

  // False: the next overload is to be tried. Throws where there is none.
  [[gnu::always_inline]] bool from_python(nanobind::handle source, uint32_t flags,
                                          nanobind::detail::cleanup_list* cleanup) {
    constexpr auto kConvert = static_cast<uint32_t>(nanobind::detail::cast_flags::convert);
    frame_.JoinLate(cleanup);
    const int result =
        carrier_.Load(source.ptr(), frame_.StartArg((flags & kConvert) != 0), frame_);
    if (result != 0) return NotLoaded(result);
    if constexpr (kMakesResult<V>) cleanup_ = cleanup;
    PyObject* const object = carrier_.FirstOf(source.ptr());
    if (cleanup != nullptr && object != nullptr) {
      Py_INCREF(object);
      cleanup->append(object);
    }
    return true;
  }

  explicit operator V() { return Lend(); }
  explicit operator const V&() {
    value_.emplace(Lend());
    return *value_;
  }

 private:
  V Lend() {
    frame_.NoteCalled();
    return carrier_.Lend(kMakesResult<V> ? LikeOf(cleanup_) : nullptr, frame_);
  }
  [[gnu::noinline, gnu::cold]] bool NotLoaded(int result) {
    frame_.EndArg(result);
    if (result < 0) throw nanobind::python_error();
    return false;
  }

  CallFrame frame_;
  Carrier<V> carrier_;
  std::optional<V> value_;  // for functions that take a reference
  const void* cleanup_;     // of an Out (nanobind's types have hidden visibility)
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

namespace nanobind::detail {

#define DOVETAIL_CARRIED(...)              \
  template <typename T, typename... Rules> \
  struct type_caster<__VA_ARGS__> : dovetail::internal_arg::NanobindCaster<__VA_ARGS__> {};
#include "dovetail/python/casters/carried_types.inc"
#undef DOVETAIL_CARRIED
// It takes None.
template <typename T, typename... Rules>
struct has_arg_defaults<dovetail::internal_arg::Given<dovetail::Out<T, Rules...>>>
    : std::true_type {};
#if __cplusplus >= 202002L
template <dovetail::Size kName>
struct type_caster<dovetail::SizeArg<kName>>
    : dovetail::internal_arg::NanobindCaster<dovetail::SizeArg<kName>> {};
#endif

// What a Kernel returns.
template <typename... Values>
struct type_caster<dovetail::internal_arg::Results<Values...>> {
  using Value = dovetail::internal_arg::Results<Values...>;
  static constexpr auto Name = dovetail::internal_arg::NanobindNameOfResults<Values...>();
  static handle from_cpp(const Value& results, rv_policy, cleanup_list* cleanup) noexcept {
    return dovetail::internal_arg::TakeResults(results, dovetail::internal_arg::LikeOf(cleanup));
  }
};

template <>
struct type_caster<dovetail::OwnedTensor> {
  using Value = dovetail::OwnedTensor;
  static constexpr auto Name = const_name("typing.Any");
  template <typename T_>
  using Cast = movable_cast_t<T_>;
  // The casters of containers ask this.
  template <typename T_>
  bool can_cast() const {
    return !error.is_set();
  }

  // The memory is shared beyond the call. True with an error held, which the call throws.
  bool from_python(handle src, uint32_t, cleanup_list* cleanup) noexcept {
    frame.Join(cleanup);
    frame.CountArgument();
    value = Value::FromPython(src.ptr());
    if (!value && Dovetail_IsMismatch()) {
      PyErr_Clear();
      return false;
    }
    if (!value) {
      error.Take();
      return true;
    }
    if (cleanup != nullptr) {
      Py_INCREF(src.ptr());
      cleanup->append(src.ptr());
    }
    return true;
  }
  // A null tensor says that a Python error is set.
  static handle from_cpp(dovetail::OwnedTensor&& tensor, rv_policy,
                         cleanup_list* cleanup) noexcept {
    if (!tensor) return handle();
    return std::move(tensor).ToPython(dovetail::internal_arg::LikeOf(cleanup));
  }

  explicit operator Value*() { return &Get(); }
  explicit operator Value&() { return Get(); }
  explicit operator Value&&() { return std::move(Get()); }
  Value& Get() {
    if (error.is_set()) error.Throw();
    return value;
  }

  dovetail::internal_arg::CallFrame frame;
  dovetail::internal_arg::HeldError error;
  Value value;
};

#ifdef DOVETAIL_CAPI_LINKED
template <>
struct type_caster<dovetail::Tensor> {
  using Value = dovetail::Tensor;
  static constexpr auto Name = const_name("typing.Any");
  template <typename T_>
  using Cast = movable_cast_t<T_>;
  template <typename T_>
  bool can_cast() const {
    return !owned.error.is_set();
  }

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!owned.from_python(src, flags, cleanup)) return false;
    if (owned.error.is_set()) return true;
    absl::StatusOr<dovetail::Tensor> tensor = dovetail::FromDLPack(owned.value.release());
    if (!tensor.ok()) return false;
    value = *std::move(tensor);
    return true;
  }
  static handle from_cpp(const dovetail::Tensor& tensor, rv_policy,
                         cleanup_list* cleanup) noexcept {
    if (tensor.is_null()) return none().release();
    return Dovetail_ToPython(dovetail::ToDLPackUnordered(tensor).release(),
                             dovetail::internal_arg::LikeOf(cleanup));
  }

  explicit operator Value*() { return &Get(); }
  explicit operator Value&() { return Get(); }
  explicit operator Value&&() { return std::move(Get()); }
  Value& Get() {
    if (owned.error.is_set()) owned.error.Throw();
    return value;
  }

  type_caster<dovetail::OwnedTensor> owned;
  Value value;
};
#endif

}  // namespace nanobind::detail

#endif  // DOVETAIL_PYTHON_CASTERS_NANOBIND_H_
