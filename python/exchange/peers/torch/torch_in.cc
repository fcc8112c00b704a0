#include "dovetail/python/exchange/peers/torch/torch_in.h"

#include <utility>

#include "dlpack/dlpack.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/type_table.h"  // which proves that the numbers agree
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/peers/torch/torch_memory.h"
#include "dovetail/python/exchange/peers/torch/torch_state.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/protocols/fill.h"

namespace dovetail::python {
namespace {

bool RefuseNegation() {
  RaiseExchange("The tensor is a lazy negation; use tensor.resolve_neg().");
  return false;
}

// A tensor that requires gradients, which __dlpack__ refuses, is data for an argument of a function
// while PyTorch records no operations.
[[gnu::noinline]] ExchangeResult AllowGradients(bool is_argument) {
  if (!is_argument) return NotTaken();
  if (!TorchGradientsAreOn()) return ExchangeResult::kDone;
  if (PyErr_Occurred() == nullptr) {
    RaiseExchange(
        "The tensor requires gradients, which the function does not compute. Pass x.detach(), or "
        "call the function under torch.no_grad().");
  }
  return ExchangeResult::kError;
}

// What PyTorch lends where it is what __dlpack__ would say, and lies in its storage. A lazy
// conjugate __dlpack__ refuses; a lazy negation it would export with the wrong sign.
ExchangeResult LendTorchOutsideModes(PyObject* x, bool is_argument, DLTensor* lent) {
  const bool is_plain = ReadPlainTorch(x, lent);
  if (!is_plain && (PyErr_Occurred() != nullptr || !LendByTorchTable(x, lent))) return NotTaken();
  if (MayRequireGrad(static_cast<TypeKind>(lent->dtype.code)) && TorchRequiresGrad(x)) {
    const ExchangeResult result = AllowGradients(is_argument);
    if (result != ExchangeResult::kDone) return result;
  }
  if (!is_plain) {
    const TorchMark mark = FindTorchMark(x);
    if (mark == TorchMark::kConjugate) return NotTaken();
    if (mark == TorchMark::kNegative) return ResultOf(RefuseNegation());
  }
  return CheckTorchStorage(x, *lent);
}

// A tensor over what `x` lent, which keeps the storage alive.
ExchangeResult TakeTorch(PyObject* x, const DLTensor& lent, Tensor* tensor) {
  Storage::Release release;
  if (!HoldTorchStorage(x, lent, &release)) return NotTaken();
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

ExchangeResult Take(PyObject* x, const DLTensor& lent, Tensor* tensor) {
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

}  // namespace

ExchangeResult ImportTorchTensor(PyObject* x, Tensor* tensor) {
  DLTensor lent{};  // a table that says nothing lends no tensor
  if (TorchModeIsActive()) return NotTaken();
  const ExchangeResult result = LendTorchOutsideModes(x, /*is_argument=*/false, &lent);
  return result == ExchangeResult::kDone ? Take(x, lent, tensor) : result;
}

bool FinishTorchExport(PyObject* x, Tensor* given) {
  DLTensor lent{};
  if (given->num_elements() == 0 || !LendByTorchTable(x, &lent) ||
      static_cast<char*>(lent.data) + lent.byte_offset != given->raw_data()) {
    return PyErr_Occurred() == nullptr;
  }
  if (AskTorchMark(x) == TorchMark::kNegative) return RefuseNegation();
  if (PyErr_Occurred() != nullptr || CheckTorchStorage(x, lent) == ExchangeResult::kError) {
    return false;
  }
  Tensor held;
  const ExchangeResult taken = Take(x, lent, &held);
  if (taken == ExchangeResult::kError) return false;
  // (A subclass may give another shape or type of its memory.)
  if (taken == ExchangeResult::kDone && held.dtype() == given->dtype() &&
      held.layout() == given->layout() && !given->is_read_only()) {
    *given = std::move(held);
  }
  return true;
}

ExchangeResult BorrowTorchOutsideModes(PyObject* x, DovetailBorrowed* borrowed) {
  DLTensor lent{};
  const ExchangeResult result = LendTorchOutsideModes(x, /*is_argument=*/true, &lent);
  if (result != ExchangeResult::kDone) return result;
  return FillBorrowed(lent, /*flags=*/0, borrowed) ? result : ExchangeResult::kNotTaken;
}

ExchangeResult BorrowTorchTensor(PyObject* x, DovetailBorrowed* borrowed) {
  return TorchModeIsActive() ? NotTaken() : BorrowTorchOutsideModes(x, borrowed);
}

ExchangeResult BorrowTorchParameter(PyObject* x, DovetailBorrowed* borrowed) {
  // (It may be PyTorch's first tensor here: its base class is known from then on.)
  return torch_tensor.IsBaseOf(Py_TYPE(x)) ? BorrowTorchTensor(x, borrowed) : NotTaken();
}

}  // namespace dovetail::python
