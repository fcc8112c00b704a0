// Whether a PyTorch tensor requires gradients, by a call of PyTorch in C++.
//
//   if (TorchRequiresGrad(x)) ...                    // then only __dlpack__ may be asked (rule 55)
//
// The Python attribute takes 50 ns, longer than the rest of the import. Most of that is PyTorch's
// check for warnings and overrides.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_GRADIENT_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_GRADIENT_H_

#include <Python.h>

#include "dovetail/core/dtype.h"

namespace dovetail::python {

// Whether a tensor of that kind of number may require gradients.
inline bool MayRequireGrad(TypeKind kind) {
  return kind != TypeKind::kInt && kind != TypeKind::kUInt && kind != TypeKind::kBool &&
         kind != TypeKind::kHandle;
}

// For an exact torch.Tensor. Also true if the answer is unknown. Only an interrupt leaves its error
// set. Needs the GIL.
bool TorchRequiresGrad(PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_GRADIENT_H_
