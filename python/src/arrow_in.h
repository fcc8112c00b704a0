// Arrow in: `from_arrow(x, /)`.
//
//   dt.from_arrow(pyarrow.array([1, 2, 3]))       # int64, read-only, the same memory
//
// x has __arrow_c_device_array__ or __arrow_c_array__ and is one dimension of numbers without
// nulls. Source: arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html. Needs the
// GIL.

#ifndef DOVETAIL_PYTHON_SRC_ARROW_IN_H_
#define DOVETAIL_PYTHON_SRC_ARROW_IN_H_

#include <Python.h>

namespace dovetail::python {

// nullptr with an error set: AttributeError for an x without the protocol, ExchangeError for what
// can't be a tensor, what x raises.
PyObject* FromArrowFunction(PyObject* module, PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ARROW_IN_H_
