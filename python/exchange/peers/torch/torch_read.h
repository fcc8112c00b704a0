// Reads plain PyTorch tensors by PyTorch's stable C functions.
//
//   DLTensor lent;
//   if (ReadPlainTorch(x, &lent)) ...                // else ask PyTorch's exchange API
//
// Five functions take a quarter of the time of the exchange API, which makes a new reference to the
// tensor. They say the same of a plain tensor.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_READ_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_READ_H_

#include <Python.h>

#include "dlpack/dlpack.h"

namespace dovetail::python {

// What PyTorch's exchange API says of `x`, an exact torch.Tensor. Shape and strides (elements) are
// PyTorch's own arrays, valid as long as nothing resizes the tensor. Only an interrupt leaves its
// error set. Needs the GIL.
bool LendByTorchTable(PyObject* x, DLTensor* lent);

// The same for a tensor that is plain (torch_marks.h); false for others.
bool ReadPlainTorch(PyObject* x, DLTensor* lent);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_READ_H_
