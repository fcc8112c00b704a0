// Refuses objects of a nanobind class that no constructor has filled: Device.__new__(Device).
//
//   nb::class_<Device> c(m, "Device");
//   RefuseBareNew(reinterpret_cast<PyTypeObject*>(c.ptr()));
//
// nanobind checks that an object is filled where it converts one itself; nb::inst_ptr, by which our
// functions read one, does not. Calls of the class, such as Device("cpu"), don't use tp_new.

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_REFUSE_NEW_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_REFUSE_NEW_H_

#include <Python.h>

namespace dovetail::python {

inline void RefuseBareNew(PyTypeObject* type) {
  type->tp_new = [](PyTypeObject* of, PyObject*, PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError, "%.200s.__new__() makes no object", of->tp_name);
    return nullptr;
  };
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_REFUSE_NEW_H_
