// PyTorch's lazy conjugate and negation: the tensor has a mark, and its memory the values before
// it.
//
//   const TorchLazy lazy = TorchLazyOf(x);
//   if (lazy.is_conjugate || lazy.is_negative) ...       // the memory is not the values

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_LAZY_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_LAZY_H_

#include <Python.h>

namespace dovetail::python {

struct TorchLazy {
  bool is_conjugate;
  bool is_negative;
};

// Of an exact torch.Tensor, what x.is_conj() and x.is_neg() say. No error is left set. Needs the
// GIL.
TorchLazy TorchLazyOf(PyObject* x);

// Whether the dispatch keys are where torch_abi.h says: compares tensors with each of the marks,
// with both and with none. Only an interrupt leaves its error set. Needs the GIL.
bool TorchLazyIsAsAssumed();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_LAZY_H_
