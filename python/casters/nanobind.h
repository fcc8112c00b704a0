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
// Overloads are told apart by what their Args require; a function without overloads raises an error
// that says what is wrong with the argument (overloads.h). No other container may hold an Arg: its
// memory is borrowed for the argument alone.
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

template <size_t... kIndices>
constexpr auto NanobindName(const Text& text, std::index_sequence<kIndices...>) {
  return nanobind::detail::descr<sizeof...(kIndices)>{text.letters[kIndices]...};
}
template <typename Facts>
constexpr auto NanobindName() {
  constexpr Text kText = Signature<Facts>::kText;
  return NanobindName(kText, std::make_index_sequence<kText.size>());
}

// The first tensor argument of the call. Casters append their arguments to nanobind's list, which
// keeps them until the call ends. nanobind appends the collections and names of other arguments.
inline PyObject* LikeOf(const nanobind::detail::cleanup_list* cleanup) {
  for (size_t i = 1; cleanup != nullptr && i < cleanup->size(); ++i) {
    PyObject* const object = (*cleanup)[i];
    if (!PyTuple_Check(object) && !PyDict_Check(object) && !PyUnicode_Check(object)) return object;
  }
  return nullptr;
}

// A borrowed argument, in a caster. The cleanup list of a call is the key of its attempts, of which
// one is in progress at a time.
template <typename Facts>
class NanobindLoan {
 public:
  NanobindLoan() {
    borrowed_.held = nullptr;
    frame_.NoteMade();
  }
  ~NanobindLoan() {
    Dovetail_Release(&borrowed_);
    frame_.NoteDestroyed();
  }
  NanobindLoan(const NanobindLoan&) = delete;
  NanobindLoan& operator=(const NanobindLoan&) = delete;

  // False: the next overload is to be tried. Throws where there is none.
  [[gnu::always_inline]] bool Load(PyObject* object, uint32_t flags,
                                   nanobind::detail::cleanup_list* cleanup) {
    DovetailCall* const call = Start(flags, cleanup);
    const int result = Dovetail_Borrow(object, &Facts::kRequirements, call, &borrowed_);
    if (result != 0) return NotLoaded(result);
    if (cleanup != nullptr) {
      Py_INCREF(object);
      cleanup->append(object);
    }
    return true;
  }
  void LoadNone(uint32_t flags, nanobind::detail::cleanup_list* cleanup) {
    Start(flags, cleanup);
    frame_.CountArgument();
  }

  // For the call of the function.
  const DovetailBorrowed& Lend() {
    frame_.NoteCalled();
    return borrowed_;
  }
  const DovetailBorrowed& borrowed() const { return borrowed_; }

 private:
  [[gnu::noinline, gnu::cold]] bool NotLoaded(int result) {
    frame_.EndArg(result);
    if (result < 0) throw nanobind::python_error();
    return false;
  }
  DovetailCall* Start(uint32_t flags, const void* cleanup) {
    frame_.JoinLate(cleanup);
    return frame_.StartArg((flags & static_cast<uint32_t>(nanobind::detail::cast_flags::convert)) !=
                           0);
  }

  CallFrame frame_;
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

  [[gnu::always_inline]] bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) {
    return loan.Load(src.ptr(), flags, cleanup);
  }
  explicit operator Value() { return Value(loan.Lend()); }
  explicit operator const Value&() {
    loan.Lend();
    return value;
  }

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
    if (src.is_none()) {
      loan.LoadNone(flags, cleanup);
      return true;
    }
    if (!loan.Load(src.ptr(), flags, cleanup)) return false;
    value.emplace(loan.borrowed());
    return true;
  }
  explicit operator Value() {
    const DovetailBorrowed& borrowed = loan.Lend();
    return value.has_value() ? Value(std::in_place, borrowed) : Value();
  }
  explicit operator const Value&() {
    loan.Lend();
    return value;
  }

  dovetail::internal_arg::NanobindLoan<typename Argument::Facts> loan;
  Value value;
};

template <>
struct type_caster<dovetail::OwnedTensor> {
  NB_TYPE_CASTER(dovetail::OwnedTensor, const_name("typing.Any"))

  // The memory is shared beyond the call. Throws an interrupt.
  bool from_python(handle src, uint32_t, cleanup_list* cleanup) {
    frame.Join(cleanup);
    frame.CountArgument();
    value = dovetail::OwnedTensor::FromPython(src.ptr());
    if (!value) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw python_error();
      PyErr_Clear();
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

  dovetail::internal_arg::CallFrame frame;
};

#ifdef DOVETAIL_CAPI_LINKED
template <>
struct type_caster<dovetail::Tensor> {
  NB_TYPE_CASTER(dovetail::Tensor, const_name("typing.Any"))

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) {
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

  type_caster<dovetail::OwnedTensor> owned;
};
#endif

}  // namespace nanobind::detail

#endif  // DOVETAIL_PYTHON_CASTERS_NANOBIND_H_
