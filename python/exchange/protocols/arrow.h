// Arrow's PyCapsule interface, in both directions.
//
//   Tensor tensor;
//   if (!ImportArrow(x, &tensor)) return nullptr;        // x is a pyarrow.array([1, 2, 3])
//   return ExportArrow<ArrowArray>(tensor, requested_schema);
//
// What comes in: arrays of numbers without nulls, of lists of a fixed size, and of fixed shape
// tensors; columns in one piece, such as a pandas or polars Series. The tensor is read-only and
// shares the memory. Source: arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
// Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail::python {

// `x` has __arrow_c_device_array__, __arrow_c_array__ or __arrow_c_stream__, of which the first in
// this order is called. False with an error set: AttributeError for an object with none,
// ExchangeError for an array that can't be a tensor and for a stream of several arrays, or what `x`
// raises.
bool ImportArrow(PyObject* x, Tensor* tensor);

// A pair of capsules, the schema and the array, that share the memory. `Array` is
// ArrowArray or ArrowDeviceArray. `requested_schema` is a capsule, None or nullptr: it chooses
// among lists, flat lists and fixed shape tensors (interop/arrow/export.h); None means lists.
// Numbers are not converted, as the protocol allows. nullptr with an ExchangeError set for what
// Arrow can't hold and for a requested schema with fields.
template <typename Array>
PyObject* ExportArrow(const Tensor& tensor, PyObject* requested_schema);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_H_
