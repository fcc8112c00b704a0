#include <nanobind/nanobind.h>

#include <iterator>

#include "dovetail/python/module/arguments/call_package.h"
#include "dovetail/python/module/functions/functions.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Whether `x` is a number or numbers in a sequence, which have no memory to share.
bool IsNumbers(PyObject* x) {
  return PyLong_Check(x) || PyFloat_Check(x) || PyList_Check(x) || PyTuple_Check(x) ||
         PyComplex_Check(x) || PyRange_Check(x);
}

}  // namespace

PyObject* AsArrayFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames) {
  if (nargs == 1 && kwnames == nullptr && !IsNumbers(args[0])) {
    PyObject* const converted[] = {args[0], reinterpret_cast<PyObject*>(&tensor_type)};
    return ConvertFunction(module, converted, std::size(converted), nullptr);
  }
  const nb::object general = nb::steal(FindInPackage("dovetail._creation", "asarray"));
  return general.is_valid() ? PyObject_Vectorcall(general.ptr(), args, nargs, kwnames) : nullptr;
}

}  // namespace dovetail::python
