// The memory of a PyTorch tensor: what PyTorch says of it, and the storage that owns it.
//
//   DLTensor lent;
//   if (!ReadPlainTorch(x, &lent) && !LendByTorchTable(x, &lent)) ...    // call __dlpack__ instead
//   Storage::Release release;
//   if (!HoldTorchStorage(x, lent, &release)) ...                        // the same
//
// Holding the tensor is not enough: `t.data = u`, `t.set_()` and `torch.utils.swap_tensors` take
// the memory away from a tensor that stays alive. A second tensor over the same storage keeps it
// through all three. What gives the storage itself other memory (`t.resize_()`,
// `t.untyped_storage().resize_()`, `t.share_memory_()`) frees the old under all tensors over it, as
// it does after PyTorch's own __dlpack__: PyTorch publishes no way to forbid it but `t.numpy()`,
// which takes 500 ns and forbids resizing alone.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MEMORY_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MEMORY_H_

#include <Python.h>

#include "dlpack/dlpack.h"
#include "dovetail/core/storage.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {

// What PyTorch's exchange API says of `x`, an exact torch.Tensor. Shape and strides (elements) are
// PyTorch's own arrays, valid as long as nothing resizes the tensor. Only an interrupt leaves its
// error set. Needs the GIL.
bool LendByTorchTable(PyObject* x, DLTensor* lent);

// The same for a tensor that is plain (torch_state.h), by five of PyTorch's stable C functions: a
// quarter of the time of the exchange API, which makes a new reference to the tensor. False for
// others.
bool ReadPlainTorch(PyObject* x, DLTensor* lent);

// For a torch.Tensor, of which PyTorch says `lent`. `release` drops the storage and is
// called once, on any thread. False, with nothing held, if PyTorch offers no way. Only an interrupt
// leaves its error set. Needs the GIL.
bool HoldTorchStorage(PyObject* x, const DLTensor& lent, Storage::Release* release);

// Whether the elements lie in the storage: it may have been resized under the tensor, as FSDP does.
// kError with an ExchangeError set if not; kNotTaken if PyTorch does not say. Needs the GIL.
ExchangeResult CheckTorchStorage(PyObject* x, const DLTensor& lent);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MEMORY_H_
