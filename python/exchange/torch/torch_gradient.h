// Whether a PyTorch tensor requires gradients, asked in C++.
//
//   if (TorchRequiresGrad(x)) ...                    // then only __dlpack__ may be asked (rule 55)
//
// The attribute takes longer than all the rest of our half of an exchange: 50 ns by its getter, of
// which PyTorch's look for warnings and overrides is most.

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

// For an exact torch.Tensor. True, too, where it can't be told. Needs the GIL; no error is left
// set.
bool TorchRequiresGrad(PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_GRADIENT_H_
