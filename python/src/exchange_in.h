// The fast door in: DLPack's C exchange API of exact, listed types.
//
//   if (torch_tensor.Is(Py_TYPE(x))) result = ImportTorchTensor(x, &tensor);
//
// Takes no capsule and calls no Python method, which costs about a tenth of what x.__dlpack__()
// does. A PyTorch tensor lends its DLTensor, and its storage is kept alive (torch_storage.h); a
// Paddle tensor gives a managed tensor, which keeps its memory. It is taken only where it answers
// as __dlpack__ would; in doubt (a tensor that requires grad, inside a mode of PyTorch's, a lazy
// conjugate or negation, or lies on a device with streams) the caller asks __dlpack__. Source:
// dlpack.h 1.3, DLPackExchangeAPI.

#ifndef DOVETAIL_PYTHON_SRC_EXCHANGE_IN_H_
#define DOVETAIL_PYTHON_SRC_EXCHANGE_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

enum class ExchangeResult {
  kDone,      // the tensor is in
  kNotTaken,  // a case that __dlpack__ has to answer; no error is set
  kError,     // an error is set
};

// `x` is an exact torch.Tensor.
ExchangeResult ImportTorchTensor(PyObject* x, Tensor* tensor);

// `x` is an exact paddle.Tensor.
ExchangeResult ImportPaddleTensor(PyObject* x, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_EXCHANGE_IN_H_
