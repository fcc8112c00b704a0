// Holds the storage of a PyTorch tensor, which owns its memory.
//
//   Storage::Release release;
//   if (!HoldTorchStorage(x, lent, &release)) ...        // call __dlpack__ instead
//
// Holding the tensor is not enough: `t.data = u`, `t.set_()` and `torch.utils.swap_tensors` take
// the memory away from a tensor that stays alive. A second tensor over the same storage keeps it
// through all three. Resizing the storage, by `t.resize_()` or `t.untyped_storage().resize_()`,
// frees the memory under all tensors over it, as it does after PyTorch's own __dlpack__: PyTorch
// publishes no way to forbid it but `t.numpy()`, which takes 500 ns.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_

#include <Python.h>

#include "dlpack/dlpack.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/support/exchange_result.h"

namespace dovetail::python {

// For an exact torch.Tensor, of which PyTorch says `lent`. `release` drops the storage and is
// called once, on any thread. False, with nothing held, if PyTorch offers no way. Only an interrupt
// leaves its error set. Needs the GIL.
bool HoldTorchStorage(PyObject* x, const DLTensor& lent, Storage::Release* release);

// Whether the elements lie in the storage: it may have been resized under the tensor, as FSDP does.
// kError with an ExchangeError set if not; kNotTaken if PyTorch does not say. Needs the GIL.
ExchangeResult CheckTorchStorage(PyObject* x, const DLTensor& lent);

// The same for what `__dlpack__` gave of `x`, a torch.Tensor of any class, such as a Parameter: of
// a view of freed memory PyTorch gives a small address. Only a plain tensor (torch_marks.h) that
// gave its own memory is checked. False with an error set. Needs the GIL.
bool CheckTorchExport(PyObject* x, const Tensor& given);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_
