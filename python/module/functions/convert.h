// convert(x, target, /, *, copy=None): any library's tensor as any other's.
//
//   dt.convert(numpy_array, torch.Tensor)
//   dt.register_converter(MyTensor, MyTensor.from_dlpack)
//
// No library is imported unless its class is given, which imports it. Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_

#include <Python.h>

#include <optional>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/routes/import_object.h"

namespace dovetail::python {

PyObject* ConvertFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames);

// register_converter(type, from_tensor)
PyObject* RegisterConverter(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// How a conversion went, for explain().
struct ConvertTrace {
  ImportTrace import;
  Tensor tensor;                 // of x, where it came in
  const char* misfit = nullptr;  // why the class does not take it without a copy
};

// convert(x, target, copy=copy), which fills `trace` in.
PyObject* ConvertTraced(PyObject* x, PyObject* target, std::optional<bool> copy,
                        ConvertTrace* trace);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_
