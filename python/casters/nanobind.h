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
// the class of the first tensor argument: torch in, torch out. std::optional<Arg<…>> takes None.
// Overloads that differ in their Args are told apart by dtype, rank and device; a function without
// overloads raises an error that says what is wrong with the argument. No other container may hold
// an Arg: its memory is borrowed for the argument alone.
//
// Needs the dovetail package at run time, or Dovetail linked in (capi.h).

#ifndef DOVETAIL_PYTHON_CASTERS_NANOBIND_H_
#define DOVETAIL_PYTHON_CASTERS_NANOBIND_H_

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "dovetail/python/arg.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/casters/call_frame.h"
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

// For arguments that do not depend on others: a call of its own.
struct OwnCall {
  DovetailCall* Start() {
    StartCall(&call);
    return &call;
  }
  DovetailCall call;
};

template <size_t... kIndices>
constexpr auto NanobindName(const Text& text, std::index_sequence<kIndices...>) {
  return nanobind::detail::descr<sizeof...(kIndices)>{text.letters[kIndices]...};
}
template <typename Facts>
constexpr auto NanobindName() {
  constexpr Text kText = Signature<Facts>::kText;
  return NanobindName(kText, std::make_index_sequence<kText.size>());
}

// The first tensor argument of the call: casters append their arguments to nanobind's list.
inline PyObject* LikeOf(const nanobind::detail::cleanup_list* cleanup) {
  return cleanup != nullptr && cleanup->size() > 1 ? (*cleanup)[1] : nullptr;
}

// A borrowed argument, in a caster.
template <typename Facts>
class NanobindLoan {
 public:
  NanobindLoan() { borrowed_.held = nullptr; }
  ~NanobindLoan() { Dovetail_Release(&borrowed_); }
  NanobindLoan(const NanobindLoan&) = delete;
  NanobindLoan& operator=(const NanobindLoan&) = delete;

  // False: the next overload is to be tried. Throws where there is none.
  bool Load(PyObject* object, uint32_t flags, nanobind::detail::cleanup_list* cleanup) {
    const bool is_strict =
        (flags & static_cast<uint32_t>(nanobind::detail::cast_flags::convert)) == 0;
    DovetailCall* const call = call_.Start();
    call->is_quiet = is_strict;
    if (cleanup != nullptr) call->position = static_cast<int32_t>(cleanup->size()) - 1;
    const int result = Dovetail_Borrow(object, &Facts::kRequirements, call, &borrowed_);
    if (result == 0) {
      if (is_strict) Refused::Forget();
      if (cleanup != nullptr) {
        Py_INCREF(object);
        cleanup->append(object);
      }
      return true;
    }
    if (result < 0 && !Refused::ClearError(object)) throw nanobind::python_error();
    if (is_strict) Refused::Note(object);
    return false;
  }

  const DovetailBorrowed& borrowed() const { return borrowed_; }

 private:
  std::conditional_t<Facts::HasNames(), CallFrame, OwnCall> call_;
  DovetailBorrowed borrowed_;
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

namespace nanobind::detail {

template <typename T, typename... Rules>
struct type_caster<dovetail::Arg<T, Rules...>> {
  using Value = dovetail::Arg<T, Rules...>;
  using Facts = typename Value::Facts;
  static constexpr auto Name = dovetail::internal_arg::NanobindName<Facts>();
  template <typename T_>
  using Cast = std::conditional_t<std::is_reference_v<T_>, const Value&, Value>;
  // The casters of containers ask this, and functions do not.
  template <typename T_>
  static constexpr bool can_cast() {
    static_assert(std::is_void_v<T_>, "An Arg is an argument itself. No container holds one.");
    return false;
  }

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) {
    return loan.Load(src.ptr(), flags, cleanup);
  }
  explicit operator Value() { return Value(loan.borrowed()); }
  explicit operator const Value&() { return value; }

  dovetail::internal_arg::NanobindLoan<Facts> loan;
  Value value{loan.borrowed()};
};

template <typename T, typename... Rules>
struct type_caster<std::optional<dovetail::Arg<T, Rules...>>> {
  using Argument = dovetail::Arg<T, Rules...>;
  using Value = std::optional<Argument>;
  static constexpr auto Name = optional_name(type_caster<Argument>::Name);
  template <typename T_>
  using Cast = std::conditional_t<std::is_reference_v<T_>, const Value&, Value>;
  template <typename T_>
  static constexpr bool can_cast() {
    static_assert(std::is_void_v<T_>, "An Arg is an argument itself. No container holds one.");
    return false;
  }

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) {
    if (src.is_none()) return true;
    if (!loan.Load(src.ptr(), flags, cleanup)) return false;
    value.emplace(loan.borrowed());
    return true;
  }
  explicit operator Value() {
    if (!value.has_value()) return Value();
    return Value(std::in_place, loan.borrowed());
  }
  explicit operator const Value&() { return value; }

  dovetail::internal_arg::NanobindLoan<typename Argument::Facts> loan;
  Value value;
};

template <>
struct type_caster<dovetail::OwnedTensor> {
  NB_TYPE_CASTER(dovetail::OwnedTensor, const_name("typing.Any"))

  // The memory is shared beyond the call.
  bool from_python(handle src, uint32_t, cleanup_list* cleanup) noexcept {
    value = dovetail::OwnedTensor::FromPython(src.ptr());
    if (!value) {
      if (PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();  // no interrupt
      return false;
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
};

#ifdef DOVETAIL_CAPI_LINKED
template <>
struct type_caster<dovetail::Tensor> {
  NB_TYPE_CASTER(dovetail::Tensor, const_name("typing.Any"))

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    type_caster<dovetail::OwnedTensor> owned;
    if (!owned.from_python(src, flags, cleanup)) return false;
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
};
#endif

}  // namespace nanobind::detail

#endif  // DOVETAIL_PYTHON_CASTERS_NANOBIND_H_
