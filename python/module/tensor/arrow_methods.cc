#include "dovetail/python/module/tensor/methods.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/protocols/arrow_out.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

constexpr char kRequestedSchema[] = "requested_schema";

template <typename Array>
PyObject* Export(PyObject* self, PyObject* requested_schema) {
  const TracedExport traced("Arrow", self, AsTensor(self));
  if (AsTensorObject(self)->requires_grad.load()) return RaiseRequiresGrad();
  return ExportArrow<Array>(AsTensor(self), requested_schema);
}

}  // namespace

PyObject* TensorArrowArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames) {
  static constinit const Signature kSignature("__arrow_c_array__", 1, 0, {kRequestedSchema});
  PyObject* requested_schema;
  if (!kSignature.Parse(args, nargs, kwnames, &requested_schema)) return nullptr;
  return Export<ArrowArray>(self, requested_schema);
}

PyObject* TensorArrowDeviceArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames) {
  static constinit const Signature kSignature("__arrow_c_device_array__", 1, 0, {kRequestedSchema});
  PyObject* requested_schema;
  if (!kSignature.Parse(args, nargs, nullptr, &requested_schema)) return nullptr;
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, i);
    PyObject* value = args[nargs + i];
    if (PyUnicode_CompareWithASCIIString(name, kRequestedSchema) == 0 && nargs == 0) {
      requested_schema = value;
    } else if (value != Py_None) {
      return PyErr_Format(PyExc_NotImplementedError,
                          "__arrow_c_device_array__() does not know the keyword '%U'", name);
    }
  }
  return Export<ArrowDeviceArray>(self, requested_schema);
}

}  // namespace dovetail::python
