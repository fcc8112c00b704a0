// What PyTorch puts off: a conjugate or a negation that a tensor is marked with, while its memory
// has the values before it.
//
//   const TorchLazy lazy = TorchLazyOf(x);
//   if (lazy.is_conjugate || lazy.is_negative) ...       // neither its table nor a view says so

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_LAZY_H_
