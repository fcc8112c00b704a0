// Imports Arrow arrays of numbers without nulls, of lists of a fixed size, and of fixed shape
// tensors; and columns in one piece, such as a pandas or polars Series.
//
//   Tensor tensor;
//   if (!ImportArrow(x, &tensor)) return nullptr;        // x is a pyarrow.array([1, 2, 3])
//
// The tensor is read-only and shares the memory. Source:
// arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// `x` has __arrow_c_device_array__, __arrow_c_array__ or __arrow_c_stream__, of which the first in
// this order is called. False with an error set: AttributeError for an object with none,
// ExchangeError for an array that can't be a tensor and for a stream of several arrays, or what `x`
// raises.
bool ImportArrow(PyObject* x, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_IN_H_
