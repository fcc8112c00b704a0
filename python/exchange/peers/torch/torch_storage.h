// Holds the storage of a PyTorch tensor, which owns its memory.
//
//   Storage::Release release;
//   if (!HoldTorchStorage(x, lent, &release)) ...        // call __dlpack__ instead
//
// Holding the tensor is not enough: `t.data = u`, `t.set_()` and `torch.utils.swap_tensors` take
// the memory away from a tensor that stays alive. A second tensor over the same storage keeps it
// through all three. What gives the storage itself other memory (`t.resize_()`,
// `t.untyped_storage().resize_()`, `t.share_memory_()`) frees the old under all tensors over it, as
// it does after PyTorch's own __dlpack__: PyTorch publishes no way to forbid it but `t.numpy()`,
// which takes 500 ns and forbids resizing alone.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_STORAGE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_STORAGE_H_

#include <Python.h>

#include "dlpack/dlpack.h"
#include "dovetail/core/storage.h"
#include "dovetail/python/exchange/base/exchange_result.h"

namespace dovetail::python {

// For a torch.Tensor, of which PyTorch says `lent`. `release` drops the storage and is
// called once, on any thread. False, with nothing held, if PyTorch offers no way. Only an interrupt
// leaves its error set. Needs the GIL.
bool HoldTorchStorage(PyObject* x, const DLTensor& lent, Storage::Release* release);

// Whether the elements lie in the storage: it may have been resized under the tensor, as FSDP does.
// kError with an ExchangeError set if not; kNotTaken if PyTorch does not say. Needs the GIL.
ExchangeResult CheckTorchStorage(PyObject* x, const DLTensor& lent);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_STORAGE_H_
