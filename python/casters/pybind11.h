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
// the class of the first tensor argument: torch in, torch out. Overloads that differ in their Args
// are told apart by dtype, rank and device; a function without overloads raises an error that says
// what is wrong with the argument. std::optional<Arg<…>> takes None.
//
// Needs the dovetail package at run time, or Dovetail linked in (capi.h).

#ifndef DOVETAIL_PYTHON_CASTERS_PYBIND11_H_
#define DOVETAIL_PYTHON_CASTERS_PYBIND11_H_

#include <pybind11/pybind11.h>

#include <cstddef>
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

template <size_t... kIndices>
constexpr auto Pybind11Name(const Text& text, std::index_sequence<kIndices...>) {
  return pybind11::detail::descr<sizeof...(kIndices)>{text.letters[kIndices]...};
}
template <typename Facts>
constexpr auto Pybind11Name() {
  constexpr Text kText = Signature<Facts>::kText;
  return Pybind11Name(kText, std::make_index_sequence<kText.size>());
}

// A borrowed argument, in a caster.
template <typename Facts>
class Pybind11Loan {
 public:
  Pybind11Loan() { borrowed_.held = nullptr; }
  ~Pybind11Loan() { Dovetail_Release(&borrowed_); }
  Pybind11Loan(const Pybind11Loan&) = delete;
  Pybind11Loan& operator=(const Pybind11Loan&) = delete;

  // False: the next overload is to be tried. Throws where there is none.
  bool Load(PyObject* object, bool convert) {
    DovetailCall* const call = frame_.Start();
    call->is_quiet = !convert;
    const int result = Dovetail_Borrow(object, &Facts::kRequirements, call, &borrowed_);
    if (result == 0) {
      if (!convert) Refused::Forget();
      frame_.NoteLoaded(object);
      return true;
    }
    if (result < 0 && !Refused::ClearError(object)) throw pybind11::error_already_set();
    if (!convert) Refused::Note(object);
    return false;
  }

  const DovetailBorrowed& borrowed() const { return borrowed_; }

 private:
  CallFrame frame_;
  DovetailBorrowed borrowed_;
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

namespace pybind11::detail {

template <typename T, typename... Rules>
struct type_caster<dovetail::Arg<T, Rules...>> {
  using Value = dovetail::Arg<T, Rules...>;
  using Facts = typename Value::Facts;
  static constexpr auto name = dovetail::internal_arg::Pybind11Name<Facts>();
  template <typename T_>
  using cast_op_type = std::conditional_t<std::is_lvalue_reference_v<T_>, const Value&, Value>;

  bool load(handle src, bool convert) { return loan.Load(src.ptr(), convert); }
  operator Value() { return Value(loan.borrowed()); }  // NOLINT(google-explicit-constructor)
  operator const Value&() { return value; }            // NOLINT(google-explicit-constructor)

  dovetail::internal_arg::Pybind11Loan<Facts> loan;
  Value value{loan.borrowed()};
};

template <typename T, typename... Rules>
struct type_caster<std::optional<dovetail::Arg<T, Rules...>>> {
  using Argument = dovetail::Arg<T, Rules...>;
  using Value = std::optional<Argument>;
  static constexpr auto name = type_caster<Argument>::name + const_name(" | None");
  template <typename T_>
  using cast_op_type = std::conditional_t<std::is_lvalue_reference_v<T_>, const Value&, Value>;

  bool load(handle src, bool convert) {
    if (src.is_none()) return true;
    if (!loan.Load(src.ptr(), convert)) return false;
    value.emplace(loan.borrowed());
    return true;
  }
  operator Value() {  // NOLINT(google-explicit-constructor)
    if (!value.has_value()) return Value();
    return Value(std::in_place, loan.borrowed());
  }
  operator const Value&() { return value; }  // NOLINT(google-explicit-constructor)

  dovetail::internal_arg::Pybind11Loan<typename Argument::Facts> loan;
  Value value;
};

template <>
struct type_caster<dovetail::OwnedTensor> {
  PYBIND11_TYPE_CASTER(dovetail::OwnedTensor, const_name("typing.Any"));

  // The memory is shared beyond the call.
  bool load(handle src, bool) {
    frame.Start();
    value = dovetail::OwnedTensor::FromPython(src.ptr());
    if (value) {
      frame.NoteLoaded(src.ptr());
      return true;
    }
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw error_already_set();
    PyErr_Clear();
    return false;
  }
  // A null tensor says that a Python error is set.
  static handle cast(dovetail::OwnedTensor&& tensor, return_value_policy, handle) {
    PyObject* made =
        tensor ? std::move(tensor).ToPython(dovetail::internal_arg::CallFrame::Like()) : nullptr;
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
