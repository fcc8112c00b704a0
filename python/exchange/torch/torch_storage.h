// Holds the storage of a PyTorch tensor, which owns its memory.
//
//   Storage::Release release;
//   if (!HoldTorchStorage(x, &release)) ...              // call __dlpack__ instead
//
// Holding the tensor is not enough. `t.data = u`, `t.set_()`, `t.resize_()`,
// `t.untyped_storage().resize_()` and `torch.utils.swap_tensors` take the memory away from a tensor
// that stays alive. A held storage keeps the memory through all five: the storage is counted, and
// marked as not resizable for good, as `t.numpy()` does.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_

#include <Python.h>

#include "dovetail/core/storage.h"

namespace dovetail::python {

// For an exact torch.Tensor whose memory its exchange API lends. `release` drops the storage and is
// called once, on any thread. False, with nothing held, if PyTorch offers no way. Only an interrupt
// leaves its error set. Needs the GIL.
bool HoldTorchStorage(PyObject* x, Storage::Release* release);

// Whether the insides of PyTorch are what the functions above read (torch_abi.h). Compares two
// tensors, one of which can be resized, with what PyTorch says, and holds one for a while. Only an
// interrupt leaves its error set. Needs the GIL.
bool TorchStorageIsAsAssumed();

// The function of `release`, and the same for a caller that holds the GIL.
void LetGoOfTorchStorage(void* held);
void DropTorchStorage(void* held);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_
