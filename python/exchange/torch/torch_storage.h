// Holds the storage of a PyTorch tensor: what its memory belongs to.
//
//   Storage::Release release;
//   if (!HoldTorchStorage(x, &release)) ...              // only __dlpack__ may be asked
//
// Holding the tensor is not enough. `t.data = u`, `t.set_()`, `t.resize_()`,
// `t.untyped_storage().resize_()` and `torch.utils.swap_tensors` take the memory away from a tensor
// that lives on. A held storage keeps it through all five: it is counted, and marked as not
// resizable for good, as `t.numpy()` does.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_

#include <Python.h>

#include "dovetail/core/storage.h"

namespace dovetail::python {

// For an exact torch.Tensor whose memory its exchange API lends. `release` lets go of the storage
// and is called once, on any thread. False, and nothing held, where PyTorch offers no way; no error
// is left set. Needs the GIL.
bool HoldTorchStorage(PyObject* x, Storage::Release* release);

// What `release` calls, and the same for a caller who has the GIL.
void LetGoOfTorchStorage(void* held);
void DropTorchStorage(void* held);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_STORAGE_H_
