// Tensors made from a tensor, as new objects with the mark for autograd of the one they come from.
//
// All need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_NEW_TENSORS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_NEW_TENSORS_H_

#include <Python.h>

#include "absl/status/statusor.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// A view of the tensor of `self`, as a new object with its mark for autograd.
PyObject* ViewOf(PyObject* self, absl::StatusOr<Tensor> tensor);

// Sets or clears the mark for autograd. Only floating-point and complex tensors may have it: false
// with a ValueError set otherwise.
bool MarkRequiresGrad(PyObject* self, bool value);

// A copy as a new object, with the mark for autograd where its type may have it.
PyObject* NewCopy(PyObject* self, const CopiedOptions& target);

// 'C', 'F', 'A' or 'K'; leaves *order as it is for None and nullptr. False with a ValueError set.
bool ParseOrder(PyObject* value, MemoryOrder* order);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_NEW_TENSORS_H_
