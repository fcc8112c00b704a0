// The fast door in: DLPack's C exchange API of exact, listed types.
//
//   switch (ImportByExchangeApi(x, &tensor)) { ... }
//
// Takes no capsule and calls no Python method: the object lends its DLTensor, and is itself kept
// alive, which costs about a tenth of what x.__dlpack__() does. It is
// taken only where it answers as __dlpack__ would; in doubt (a tensor that requires grad, is a lazy
// conjugate or negation, or lies on a device with streams) the caller asks __dlpack__. Source:
// dlpack.h 1.3, DLPackExchangeAPI.

#ifndef DOVETAIL_PYTHON_SRC_EXCHANGE_IN_H_
#define DOVETAIL_PYTHON_SRC_EXCHANGE_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail::python {

enum class ExchangeResult {
  kDone,      // the tensor is in
  kNotTaken,  // a case that __dlpack__ has to answer; no error is set
  kError,     // an error is set
};

// `x` is an exact torch.Tensor.
ExchangeResult ImportTorchTensor(PyObject* x, Tensor* tensor);

// The same without taking it: `view` is valid until control returns to Python, and its memory as
// long as `x`.
ExchangeResult BorrowTorchTensor(PyObject* x, TensorView* view);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_EXCHANGE_IN_H_
