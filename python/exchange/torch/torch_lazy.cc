#include "dovetail/python/exchange/torch/torch_lazy.h"

#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/torch/torch_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// What is assumed of a TensorImpl (that of PyTorch 2.13): its set of dispatch keys is a word at
// this place, with a bit for each mark. ReadsAsAssumed() asks PyTorch whether it holds; where it
// does not, the methods are called.
constexpr int kDispatchKeys = 168;
constexpr uint64_t kConjugate = uint64_t{1} << 31;
constexpr uint64_t kNegative = uint64_t{1} << 32;

TorchLazy ReadLazy(PyObject* x) {
  const uint64_t keys =
      *reinterpret_cast<const uint64_t*>(static_cast<const char*>(TorchImplOf(x)) + kDispatchKeys);
  return {(keys & kConjugate) != 0, (keys & kNegative) != 0};
}

bool CallMethod(PyObject* x, PyObject* name) {
  PyObject* answer = PyObject_CallMethodNoArgs(x, name);
  if (answer == nullptr) ForgetException();
  const bool is_marked = answer != Py_False;  // in doubt it is, and the table is not used
  Py_XDECREF(answer);
  return is_marked;
}

TorchLazy AskLazy(PyObject* x) {
  static PyObject* const is_conj = PyUnicode_InternFromString("is_conj");
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  const bool is_conjugate = CallMethod(x, is_conj);
  if (PyErr_Occurred() != nullptr) return {true, true};
  return {is_conjugate, CallMethod(x, is_neg)};
}

// Looks at tensors with each of the marks, both and none.
bool ReadsAsAssumed() {
  try {
    const nb::object torch = nb::module_::import_("torch");
    const nb::object plain = torch.attr("zeros")(2, nb::arg("dtype") = torch.attr("complex64"),
                                                 nb::arg("device") = "cpu");
    const nb::object conjugate = plain.attr("conj")();
    const nb::object negative = torch.attr("_neg_view")(plain);
    const nb::object both = torch.attr("_neg_view")(conjugate);
    for (const nb::object& x : {plain, conjugate, negative, both}) {
      if (!HasTorchImpl(x.ptr())) return false;
      const TorchLazy read = ReadLazy(x.ptr()), told = AskLazy(x.ptr());
      if (read.is_conjugate != told.is_conjugate || read.is_negative != told.is_negative) {
        return false;
      }
    }
    // The bits were told apart only if PyTorch made what it was asked for.
    return AskLazy(both.ptr()).is_conjugate && AskLazy(both.ptr()).is_negative;
  } catch (nb::python_error& e) {
    return RestoreInterrupt(e), false;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

TorchLazy TorchLazyOf(PyObject* x) {
  static constinit TorchAssumption assumption(&ReadsAsAssumed);
  if (assumption.Holds()) [[likely]]
    return ReadLazy(x);
  return PyErr_Occurred() == nullptr ? AskLazy(x) : TorchLazy{true, true};
}

}  // namespace dovetail::python
