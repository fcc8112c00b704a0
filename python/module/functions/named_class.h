// The class that a library's name stands for, where convert() is given one: "torch" is
// torch.Tensor.
//
//   const nb::object target = FindNamedClass(name);        // invalid with an error set
//
// The names are those of dovetail._targets, which imports the library. What a name means is kept:
// the module's name in sys.modules, and the class's name in the module.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_NAMED_CLASS_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_NAMED_CLASS_H_

#include <Python.h>
#include <nanobind/nanobind.h>

namespace dovetail::python {

// `name` is a str. Errors: ValueError for an unknown name, TypeError where it leads to an object
// that is no class, or what the library's import raises. Needs the GIL.
nanobind::object FindNamedClass(PyObject* name);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_NAMED_CLASS_H_
