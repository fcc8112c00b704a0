// Exports tensors as Arrow arrays.
//
//   return ExportArrow<ArrowArray>(tensor, requested_schema);
//
// Source: arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_OUT_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_OUT_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail::python {

// A pair of capsules (arrow_capsule.h), the schema and the array, that share the memory. `Array` is
// ArrowArray or ArrowDeviceArray. `requested_schema` is a capsule, None or nullptr: it chooses
// among lists, flat lists and fixed shape tensors (interop/arrow/export.h); None means lists.
// Numbers are not converted, as the protocol allows. nullptr with an ExchangeError set for what
// Arrow can't hold and for a requested schema with fields.
template <typename Array>
PyObject* ExportArrow(const Tensor& tensor, PyObject* requested_schema);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_OUT_H_
