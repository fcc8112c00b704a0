#include "dovetail/python/exchange/torch/torch_lazy.h"

#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/support/interned_name.h"
#include "dovetail/python/exchange/torch/torch_abi.h"
#include "dovetail/python/exchange/torch/torch_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

TorchLazy ReadLazy(PyObject* x) {
  const uint64_t keys = *reinterpret_cast<const uint64_t*>(
      static_cast<const char*>(TorchImplOf(x)) + kDispatchKeysInTensorImpl);
  return {(keys & kConjugateBit) != 0, (keys & kNegativeBit) != 0};
}

bool CallMethod(PyObject* x, PyObject* name) {
  PyObject* answer = PyObject_CallMethodNoArgs(x, name);
  if (answer == nullptr) ForgetException();
  const bool is_marked = answer != Py_False;  // if unknown it is; the exchange API is not used then
  Py_XDECREF(answer);
  return is_marked;
}

TorchLazy AskLazy(PyObject* x) {
  static constinit InternedName is_conj("is_conj");
  static constinit InternedName is_neg("is_neg");
  const bool is_conjugate = CallMethod(x, is_conj.get());
  if (PyErr_Occurred() != nullptr) return {true, true};
  return {is_conjugate, CallMethod(x, is_neg.get())};
}

}  // namespace

bool TorchLazyIsAsAssumed() {
  const nb::object plain = EvaluateTorch("torch.zeros(2, dtype=torch.complex64, device='cpu')");
  if (!plain.is_valid()) return false;
  const nb::object conjugate = EvaluateTorch("x.conj()", plain.ptr());
  const nb::object negative = EvaluateTorch("torch._neg_view(x)", plain.ptr());
  const nb::object both = EvaluateTorch("torch._neg_view(x.conj())", plain.ptr());
  for (const nb::object* x : {&plain, &conjugate, &negative, &both}) {
    if (!x->is_valid() || !HasTorchImpl(x->ptr())) return false;
    const TorchLazy read = ReadLazy(x->ptr()), told = AskLazy(x->ptr());
    if (read.is_conjugate != told.is_conjugate || read.is_negative != told.is_negative) {
      return false;
    }
  }
  // The bits were told apart only if PyTorch made the tensors as requested.
  return AskLazy(both.ptr()).is_conjugate && AskLazy(both.ptr()).is_negative;
}

TorchLazy TorchLazyOf(PyObject* x) {
  static constinit TorchAssumption assumption(&TorchLazyIsAsAssumed);
  if (assumption.Holds()) [[likely]]
    return ReadLazy(x);
  return PyErr_Occurred() == nullptr ? AskLazy(x) : TorchLazy{true, true};
}

}  // namespace dovetail::python
