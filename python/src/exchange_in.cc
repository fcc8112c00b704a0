#include "dovetail/python/src/exchange_in.h"

#include "dlpack/dlpack.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/type_table.h"  // which proves that the numbers agree
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/peer_type.h"
#include "dovetail/python/src/torch_gradient.h"
#include "dovetail/python/src/torch_lazy.h"
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

// The same where it is what __dlpack__ would say. A lazy conjugate that refuses; a lazy negation it
// would export with the wrong sign, as the table does.
ExchangeResult LendTorch(PyObject* x, DLTensor* lent) {
  if (!Lend(x, lent) ||
      (MayRequireGrad(static_cast<TypeKind>(lent->dtype.code)) && TorchRequiresGrad(x)) ||
      TorchModeIsActive()) {
    return ExchangeResult::kNotTaken;
  }
  const TorchLazy lazy = TorchLazyOf(x);
  if (lazy.is_conjugate) return ExchangeResult::kNotTaken;
  if (lazy.is_negative) {
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
