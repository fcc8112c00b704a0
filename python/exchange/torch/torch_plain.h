// Reads plain PyTorch tensors without a call: dense tensors on the CPU with no wrapper and no mark.
//
//   DLTensor lent;
//   if (ReadPlainTorch(x, &lent)) ...                // else ask PyTorch's exchange API
//
// PyTorch's exchange API takes the GIL, unpacks the object and asks the tensor for each of its
// properties, ten times the instructions of a read. What is read here is what the API says of the
// same tensor (torch_abi.h has the layout).

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_PLAIN_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_PLAIN_H_

#include <Python.h>

#include "dlpack/dlpack.h"

namespace dovetail::python {

// `x` is an exact torch.Tensor. Shape and strides (elements) are PyTorch's own arrays, valid as
// long as nothing resizes the tensor. False for a tensor that is not plain, has no elements, or
// whose storage has to be told before it is written (copy on write). Only an interrupt leaves its
// error set. Needs the GIL.
bool ReadPlainTorch(PyObject* x, DLTensor* lent);

// Whether the tensor, which ReadPlainTorch() took, may require gradients; TorchRequiresGrad() knows
// whether it does.
bool PlainTorchMayRequireGrad(PyObject* x);

// Whether tensors are laid out as torch_abi.h says: compares what is read of tensors of every type
// and of several shapes with what the exchange API says. Only an interrupt leaves its error set.
// Needs the GIL.
bool TorchPlainIsAsAssumed();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_PLAIN_H_
