// Arrow out: t.__arrow_c_array__() and t.__arrow_c_device_array__().
//
//   pyarrow.array(t)           # the same memory
//
// Each gives a pair of capsules (arrow_capsule.h), the schema and the array. Methods of the
// tensor's type; they need the GIL and return nullptr with an error set: ExchangeError, with the
// remedy, for what Arrow can't hold (interop/arrow/export.h). Source:
// arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.

#ifndef DOVETAIL_PYTHON_SRC_ARROW_OUT_H_
#define DOVETAIL_PYTHON_SRC_ARROW_OUT_H_

#include <Python.h>

namespace dovetail::python {

// __arrow_c_array__(requested_schema=None). What is asked for is not converted to, as the protocol
// leaves open; ExchangeError where it has fields, which no tensor has.
PyObject* TensorArrowArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

// __arrow_c_device_array__(requested_schema=None, **kwargs). NotImplementedError for keywords that
// are not None, as the protocol asks.
PyObject* TensorArrowDeviceArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ARROW_OUT_H_
