// Imports an eager tensor of TensorFlow. The memory is shared and read-only, since TensorFlow's
// tensors never change.
//
//   if (tensorflow_eager_tensor.Is(Py_TYPE(x))) result = ImportTensorFlowTensor(x, &tensor);
//
// By tensorflow.experimental.dlpack.to_dlpack(), which every version has and which waits for the
// value. It takes no stream.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TENSORFLOW_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TENSORFLOW_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/exchange_result.h"

namespace dovetail::python {

// `x` is an exact EagerTensor. An ExchangeError for strings, resources and variants, for which
// TensorFlow would end the process. Needs the GIL.
ExchangeResult ImportTensorFlowTensor(PyObject* x, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TENSORFLOW_IN_H_
