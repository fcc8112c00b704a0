#include "dovetail/python/exchange/torch/torch_in.h"

#include "dlpack/dlpack.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/type_table.h"  // which proves that the numbers agree
#include "dovetail/python/exchange/borrow/exchange_api.h"
#include "dovetail/python/exchange/borrow/fill.h"
#include "dovetail/python/exchange/peers/peer_type.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/support/exchange_result.h"
#include "dovetail/python/exchange/torch/torch_gradient.h"
#include "dovetail/python/exchange/torch/torch_lazy.h"
#include "dovetail/python/exchange/torch/torch_mode.h"
#include "dovetail/python/exchange/torch/torch_plain.h"
#include "dovetail/python/exchange/torch/torch_storage.h"

namespace dovetail::python {
namespace {

// What PyTorch's table says of `x`. Only an interrupt leaves its error set.
bool Lend(PyObject* x, DLTensor* lent) {
  const DLPackExchangeAPI* api = torch_tensor.exchange_api();
  if (api == nullptr || api->dltensor_from_py_object_no_sync == nullptr) return false;
  if (api->dltensor_from_py_object_no_sync(x, lent) != 0) {
    ForgetException();  // __dlpack__ raises a better one
    return false;
  }
  return true;
}

// The same where it is what __dlpack__ would say. A lazy conjugate that refuses; a lazy negation it
// would export with the wrong sign, as the table does.
ExchangeResult LendTorch(PyObject* x, DLTensor* lent) {
  if (TorchModeIsActive()) return NotTaken();
  if (ReadPlainTorch(x, lent)) [[likely]] {
    return PlainTorchMayRequireGrad(x) && TorchRequiresGrad(x) ? NotTaken() : ExchangeResult::kDone;
  }
  if (PyErr_Occurred() != nullptr) return ExchangeResult::kError;
  if (!Lend(x, lent) ||
      (MayRequireGrad(static_cast<TypeKind>(lent->dtype.code)) && TorchRequiresGrad(x))) {
    return NotTaken();
  }
  const TorchLazy lazy = TorchLazyOf(x);
  if (lazy.is_conjugate) return NotTaken();
  if (lazy.is_negative) {
    RaiseExchange("The tensor is a lazy negation; use tensor.resolve_neg().");
    return ExchangeResult::kError;
  }
  return ExchangeResult::kDone;
}

// A tensor over what `x` lent, which keeps the storage alive.
ExchangeResult TakeTorch(PyObject* x, const DLTensor& lent, Tensor* tensor) {
  Storage::Release release;
  if (!HoldTorchStorage(x, &release)) return NotTaken();
  if (ImportDLTensor(lent, /*flags=*/0, release, tensor).ok()) return ExchangeResult::kDone;
  release.function(release.context);
  return ExchangeResult::kNotTaken;
}

// The same for memory of a GPU, whose work is ordered before our current stream.
ExchangeResult TakeTorchInOrder(PyObject* x, const DLTensor& lent, Tensor* tensor) {
  const Device device = ToDevice(lent.device);
  const ExchangeResult ordered = OrderAfterLibrary(torch_tensor, device);
  if (ordered != ExchangeResult::kDone) return ordered;
  const ExchangeResult taken = TakeTorch(x, lent, tensor);
  if (taken == ExchangeResult::kDone) {
    tensor->storage()->RecordUse(CurrentStream(device), UseKind::kOrder);
  }
  return taken;
}

}  // namespace

ExchangeResult ImportTorchTensor(PyObject* x, Tensor* tensor) {
  DLTensor lent{};  // a table that says nothing lends no tensor
  const ExchangeResult result = LendTorch(x, &lent);
  if (result != ExchangeResult::kDone) return result;
  switch (lent.device.device_type) {
    case kDLCPU:
      return TakeTorch(x, lent, tensor);
    case kDLCUDA:
    case kDLROCM:
      return TakeTorchInOrder(x, lent, tensor);
    default:
      return ExchangeResult::kNotTaken;
  }
}

ExchangeResult BorrowTorchTensor(PyObject* x, DovetailBorrowed* borrowed) {
  DLTensor lent{};
  const ExchangeResult result = LendTorch(x, &lent);
  if (result != ExchangeResult::kDone) return result;
  return FillBorrowed(lent, /*flags=*/0, borrowed) ? result : ExchangeResult::kNotTaken;
}

}  // namespace dovetail::python
