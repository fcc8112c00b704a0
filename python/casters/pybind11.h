// Tensors as arguments and results of functions that pybind11 binds.
//
//   #include <pybind11/pybind11.h>
//   #include "dovetail/python/casters/pybind11.h"
//
//   using dovetail::Arg, dovetail::Contiguous;
//
//   PYBIND11_MODULE(kernels, m) {
//     m.def("scale", [](Arg<float, Contiguous> x, float factor) {
//       for (float& value : x) value *= factor;
//     });
//   }
//
// Results (OwnedTensor, and dovetail::Tensor in a program that links Dovetail) become an object of
// the class of the first tensor argument: torch in, torch out. Overloads are told apart by what
// their Args require; a function without overloads raises an error that says what is wrong with the
// argument (overloads.h). std::optional<Arg<…>> takes None, a std::vector<Arg<…>> a list or tuple,
// a std::map<std::string, Arg<…>> a dict. No other container may hold an Arg: its memory is
// borrowed for the argument alone.
//
// Needs the dovetail package at run time, or Dovetail linked in (capi.h).

#ifndef DOVETAIL_PYTHON_CASTERS_PYBIND11_H_
#define DOVETAIL_PYTHON_CASTERS_PYBIND11_H_

#include <pybind11/pybind11.h>

#include <cstddef>
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
constexpr auto Pybind11Name(const Text& text, std::index_sequence<kIndices...>) {
  return pybind11::detail::descr<sizeof...(kIndices)>{text.letters[kIndices]...};
}
template <typename Carrier>
constexpr auto Pybind11Name() {
  constexpr Text kText = Carrier::kText;
  return Pybind11Name(kText, std::make_index_sequence<kText.size>());
}
// Of a Kernel's results.
template <typename... Values>
constexpr auto Pybind11NameOfResults() {
  using pybind11::detail::concat;
  using pybind11::detail::const_name;
  constexpr bool kIsTuple = sizeof...(Values) > 1;
  return const_name<kIsTuple>("tuple[", "") +
         concat(Pybind11Name<Signature<typename Values::Facts>>()...) +
         const_name<kIsTuple>("]", "");
}

// Access to a private member of pybind11 (2.13 to 3.1 have it): the frame below another. What it
// publishes, add_patient(), takes memory in each call.
struct ParentFrame {
  friend constexpr auto ParentMember(ParentFrame);
};
template <auto kMember>
struct ParentFrameOpener {
  friend constexpr auto ParentMember(ParentFrame) { return kMember; }
};
template struct ParentFrameOpener<&pybind11::detail::loader_life_support::parent>;

// pybind11's own frame of the attempt that is in progress: the key of its casters. nullptr outside
// of bound functions.
inline const void* AttemptInProgress() {
  const pybind11::detail::loader_life_support newest;
  return newest.*ParentMember(ParentFrame());
}

#ifndef DOVETAIL_SET_ERROR
#define DOVETAIL_SET_ERROR
template <>
struct SetError<void> {
  [[noreturn]] static void Throw() {
    const HeldGil gil;
    throw pybind11::error_already_set();
  }
};
#endif

// A caster of borrowed tensors.
template <typename V>
class Pybind11Caster {
 public:
  static constexpr auto name = Pybind11Name<Carrier<V>>();
  template <typename T_>
  using cast_op_type = std::conditional_t<std::is_lvalue_reference_v<T_>, const V&, V>;

  Pybind11Caster() {
    frame_.Join(AttemptInProgress());
    frame_.ExpectArg();
  }

  // False: the next overload is to be tried. Throws where there is none.
  bool load(pybind11::handle source, bool convert) {
    const int result = carrier_.Load(source.ptr(), frame_.StartArg(convert), frame_);
    frame_.EndArg(result);
    if (result < 0) throw pybind11::error_already_set();
    if (result != 0) return false;
    PyObject* const object = carrier_.FirstOf(source.ptr());
    if (object != nullptr) frame_.NoteLoaded(object);
    return true;
  }

  operator V() { return Lend(); }  // NOLINT(google-explicit-constructor)
  operator const V&() {            // NOLINT(google-explicit-constructor)
    value_.emplace(Lend());
    return *value_;
  }

 private:
  V Lend() {
    frame_.NoteCalled();
    return carrier_.Lend(kMakesResult<V> ? frame_.like() : nullptr, frame_);
  }

  CallFrame frame_;
  Carrier<V> carrier_;
  std::optional<V> value_;  // for functions that take a reference
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

namespace pybind11::detail {

#define DOVETAIL_CARRIED(...)              \
  template <typename T, typename... Rules> \
  struct type_caster<__VA_ARGS__> : dovetail::internal_arg::Pybind11Caster<__VA_ARGS__> {};
#include "dovetail/python/casters/carried_types.inc"
#undef DOVETAIL_CARRIED
#if __cplusplus >= 202002L
template <dovetail::Size kName>
struct type_caster<dovetail::SizeArg<kName>>
    : dovetail::internal_arg::Pybind11Caster<dovetail::SizeArg<kName>> {};
#endif

// What a Kernel returns.
template <typename... Values>
struct type_caster<dovetail::internal_arg::Results<Values...>> {
  using Value = dovetail::internal_arg::Results<Values...>;
  static constexpr auto name = dovetail::internal_arg::Pybind11NameOfResults<Values...>();
  static handle cast(const Value& results, return_value_policy, handle) {
    PyObject* const like =
        dovetail::internal_arg::CallFrame::Like(dovetail::internal_arg::AttemptInProgress());
    PyObject* const taken = dovetail::internal_arg::TakeResults(results, like);
    if (taken == nullptr) throw error_already_set();
    return taken;
  }
};

template <>
struct type_caster<dovetail::OwnedTensor> {
  PYBIND11_TYPE_CASTER(dovetail::OwnedTensor, const_name("typing.Any"));

  type_caster() { frame.Join(dovetail::internal_arg::AttemptInProgress()); }
  // The memory is shared beyond the call.
  bool load(handle src, bool) {
    frame.CountArgument();
    value = dovetail::OwnedTensor::FromPython(src.ptr());
    if (value) {
      frame.NoteLoaded(src.ptr());
      return true;
    }
    if (!Dovetail_IsMismatch()) throw error_already_set();
    PyErr_Clear();
    return false;
  }
  // A null tensor says that a Python error is set.
  static handle cast(dovetail::OwnedTensor&& tensor, return_value_policy, handle) {
    PyObject* const like =
        dovetail::internal_arg::CallFrame::Like(dovetail::internal_arg::AttemptInProgress());
    PyObject* const made = tensor ? std::move(tensor).ToPython(like) : nullptr;
    if (made == nullptr) throw error_already_set();
    return made;
  }

  dovetail::internal_arg::CallFrame frame;
};

#ifdef DOVETAIL_CAPI_LINKED
template <>
struct type_caster<dovetail::Tensor> {
  PYBIND11_TYPE_CASTER(dovetail::Tensor, const_name("typing.Any"));

  bool load(handle src, bool convert) {
    if (!owned.load(src, convert)) return false;
    absl::StatusOr<dovetail::Tensor> tensor =
        dovetail::FromDLPack(static_cast<dovetail::OwnedTensor&>(owned).release());
    if (!tensor.ok()) return false;
    value = *std::move(tensor);
    return true;
  }
  static handle cast(const dovetail::Tensor& tensor, return_value_policy policy, handle parent) {
    if (tensor.is_null()) return none().release();
    return type_caster<dovetail::OwnedTensor>::cast(
        dovetail::OwnedTensor(dovetail::ToDLPackUnordered(tensor).release()), policy, parent);
  }

  type_caster<dovetail::OwnedTensor> owned;
};
#endif

}  // namespace pybind11::detail

#endif  // DOVETAIL_PYTHON_CASTERS_PYBIND11_H_
