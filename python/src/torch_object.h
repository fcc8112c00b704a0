// Where a PyTorch tensor object has its TensorImpl.

#ifndef DOVETAIL_PYTHON_SRC_TORCH_OBJECT_H_
#define DOVETAIL_PYTHON_SRC_TORCH_OBJECT_H_

#include <Python.h>

namespace dovetail::python {

// The TensorImpl of an exact torch.Tensor of PyTorch 2.13: it comes after what all objects have.
// Only if HasTorchImpl() says so of its class.
inline void* TorchImplOf(PyObject* x) { return *reinterpret_cast<void**>(x + 1); }

// Whether `x` is laid out as TorchImplOf thinks, by PyTorch's own word on where the TensorImpl is.
// No error is left set.
bool HasTorchImpl(PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_TORCH_OBJECT_H_
