// NumPy arrays over tensors.
//
//   PyObject* array = MakeNumPyArray(tensor.view(), owner);

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_NUMPY_OUT_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_NUMPY_OUT_H_

#include <Python.h>

#include "dovetail/core/tensor_view.h"

namespace dovetail::python {

// An array that shares the memory of `view`, read-only where it is, and keeps `owner` alive. The
// memory must be the host's. nullptr and no error set when NumPy's C interface can't be used or has
// no such type; nullptr with an error set otherwise.
PyObject* MakeNumPyArray(const TensorView& view, PyObject* owner);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_NUMPY_OUT_H_
