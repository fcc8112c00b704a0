// Whether a PyTorch tensor requires gradients, by the getter of its class.
//
//   if (TorchRequiresGrad(x)) ...                    // then only __dlpack__ may be asked (rule 55)
//
// A Python attribute takes 28 ns, its getter 20.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_GRADIENT_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_GRADIENT_H_

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

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_GRADIENT_H_
