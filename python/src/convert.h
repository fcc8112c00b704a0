// convert(x, target, /, *, copy=None): any library's tensor as any other's.
//
//   dt.convert(numpy_array, torch.Tensor)
//   dt.register_converter(MyTensor, MyTensor.from_dlpack)
//
// No library is imported unless its class is given, which imports it. Needs the GIL.

#ifndef DOVETAIL_PYTHON_SRC_CONVERT_H_
#define DOVETAIL_PYTHON_SRC_CONVERT_H_

#include <Python.h>

namespace dovetail::python {

PyObject* ConvertFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames);

// register_converter(type, from_tensor)
PyObject* RegisterConverter(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _misfit(tensor, type): why convert() would copy the tensor for that class; None if it would not.
PyObject* MisfitFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_CONVERT_H_
