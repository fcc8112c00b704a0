#include "dovetail/python/src/exchange_in.h"

#include "dlpack/dlpack.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/type_table.h"  // which proves that the numbers agree
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/peer_type.h"
#include "dovetail/python/src/torch_gradient.h"
#include "dovetail/python/src/torch_mode.h"
#include "dovetail/python/src/torch_storage.h"
#include "dovetail/python/src/view_methods.h"

namespace dovetail::python {
namespace {

// Whether the attribute (called, if it is a method) is `expected`. No error is left set.
bool AttributeIs(PyObject* expected, PyObject* x, PyObject* name, bool call) {
  PyObject* args[1] = {x};
  PyObject* value =
      call ? PyObject_VectorcallMethod(name, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)
           : PyObject_GetAttr(x, name);
  if (value == nullptr) {
    PyErr_Clear();
    return false;
  }
  const bool is_expected = value == expected;
  Py_DECREF(value);
  return is_expected;
}

// PyTorch's lazy negation marks only what .imag of a conjugate gives: no dimension of stride 1.
bool MayBeNegation(const DLTensor& t) {
  for (int32_t i = 0; i < t.ndim; ++i) {
    if (t.shape[i] > 1 && (t.strides == nullptr || t.strides[i] == 1)) return false;
  }
  return true;
}

// A lazy conjugate, which __dlpack__ refuses and the table would export unconjugated.
bool IsConjugate(PyObject* x, const DLTensor& t) {
  static PyObject* const is_conj = PyUnicode_InternFromString("is_conj");
  return t.dtype.code == kDLComplex && !AttributeIs(Py_False, x, is_conj, true);
}

// A lazy negation, which both the table and __dlpack__ would export with the wrong sign.
bool IsNegation(PyObject* x, const DLTensor& t) {
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  return (t.dtype.code == kDLComplex || t.dtype.code == kDLFloat) && MayBeNegation(t) &&
         !AttributeIs(Py_False, x, is_neg, true);
}

// What PyTorch's table says of `x`, if that is in host memory. No error is left set.
bool Lend(PyObject* x, DLTensor* lent) {
  const DLPackExchangeAPI* api = torch_tensor.exchange_api();
  if (api == nullptr || api->dltensor_from_py_object_no_sync == nullptr) return false;
  if (api->dltensor_from_py_object_no_sync(x, lent) != 0) {
    PyErr_Clear();  // __dlpack__ says it better
    return false;
  }
  return lent->device.device_type == kDLCPU;
}

// The same where it is what __dlpack__ would say.
ExchangeResult LendTorch(PyObject* x, DLTensor* lent) {
  if (!Lend(x, lent) ||
      (MayRequireGrad(static_cast<TypeKind>(lent->dtype.code)) && TorchRequiresGrad(x)) ||
      IsConjugate(x, *lent) || TorchModeIsActive()) {
    return ExchangeResult::kNotTaken;
  }
  if (IsNegation(x, *lent)) {
    RaiseExchange("The tensor is a lazy negation; use tensor.resolve_neg().");
    return ExchangeResult::kError;
  }
  return ExchangeResult::kDone;
}

// A tensor over what `x` lent, which keeps the storage alive.
ExchangeResult TakeTorch(PyObject* x, const DLTensor& lent, Tensor* tensor) {
  Storage::Release release;
  if (!HoldTorchStorage(x, &release)) return ExchangeResult::kNotTaken;
  if (ImportDLTensor(lent, /*flags=*/0, release, tensor).ok()) return ExchangeResult::kDone;
  release.function(release.context);
  return ExchangeResult::kNotTaken;
}

}  // namespace

ExchangeResult ImportTorchTensor(PyObject* x, Tensor* tensor) {
  DLTensor lent{};  // a table that says nothing lends no tensor
  const ExchangeResult result = LendTorch(x, &lent);
  return result == ExchangeResult::kDone ? TakeTorch(x, lent, tensor) : result;
}

// Paddle's table does not see what __dlpack__ refuses, and must not be asked of a tensor that is
// not dense (3.3.1 crashes). A lent DLTensor would not do: assignments to the tensor's data, among
// others, free its memory while the tensor lives.
ExchangeResult ImportPaddleTensor(PyObject* x, Tensor* tensor) {
  static PyObject* const stop_gradient = PyUnicode_InternFromString("stop_gradient");
  static PyObject* const is_dense = PyUnicode_InternFromString("is_dense");
  const DLPackExchangeAPI* api = paddle_tensor.exchange_api();
  if (api == nullptr || !AttributeIs(Py_True, x, stop_gradient, false) ||
      !AttributeIs(Py_True, x, is_dense, true)) {
    return ExchangeResult::kNotTaken;
  }
  DLManagedTensorVersioned* managed = nullptr;
  if (api->managed_tensor_from_py_object_no_sync(x, &managed) != 0 || managed == nullptr) {
    PyErr_Clear();  // __dlpack__ says it better
    return ExchangeResult::kNotTaken;
  }
  UniqueDLPack owner(managed);
  if (managed->dl_tensor.device.device_type != kDLCPU || !ImportDLPack(managed, tensor).ok()) {
    return ExchangeResult::kNotTaken;
  }
  (void)owner.release();
  return ExchangeResult::kDone;
}

}  // namespace dovetail::python
