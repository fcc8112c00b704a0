// convert() to a class that is not in the table of known classes (peer_table.h).
//
//   dt.register_converter(MyTensor, MyTensor.from_tensor)
//   dt.convert(x, MyTensor)                                   // by that function
//   dt.convert(x, array_api_strict.Array)                     // by array_api_strict.from_dlpack()
//
// A library that is not registered is assumed to write to what it takes, so that read-only memory
// is copied. Whether it shared the memory is told by the address of its result. Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_UNKNOWN_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_UNKNOWN_H_

#include <Python.h>

#include <optional>

#include "dovetail/python/module/functions/convert.h"

namespace dovetail::python {

// TypeError for a class with neither function. `trace` may be nullptr.
PyObject* ConvertToUnknown(PyObject* x, PyTypeObject* target, std::optional<bool> copy,
                           ConvertTrace* trace);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_UNKNOWN_H_
