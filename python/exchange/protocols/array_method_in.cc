#include "dovetail/python/exchange/protocols/array_method_in.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/interned_name.h"
#include "dovetail/python/exchange/base/peer_type.h"

namespace nb = nanobind;

namespace dovetail::python {

bool HasArrayMethod(PyObject* x) {
  static constinit InternedName name("__array__");
  PyObject* const method = _PyType_Lookup(Py_TYPE(x), name.get());
  return method != nullptr && method != Py_None;
}

nb::object CallArrayMethod(PyObject* x) {
  nb::object array = nb::steal(PyObject_CallMethod(x, "__array__", nullptr));
  if (!array.is_valid() || numpy_ndarray.IsBaseOf(Py_TYPE(array.ptr()))) return array;
  PyErr_Format(PyExc_TypeError, "%.200s.__array__() returned %.200s, not an array of NumPy",
               Py_TYPE(x)->tp_name, Py_TYPE(array.ptr())->tp_name);
  return {};
}

bool CheckUnmasked(PyObject* x) {
  if (!numpy_masked_array.IsBaseOf(Py_TYPE(x))) return true;
  nb::object ma = nb::steal(PyImport_ImportModule("numpy.ma"));
  if (!ma.is_valid()) return false;
  nb::object masked = nb::steal(PyObject_CallMethod(ma.ptr(), "is_masked", "O", x));
  const int is_masked = masked.is_valid() ? PyObject_IsTrue(masked.ptr()) : -1;
  if (is_masked > 0) {
    RaiseExchange(
        "The array has masked elements, and a tensor has no mask. Give them values first, as in "
        "x.filled(0), or take the others, x.compressed().");
  }
  return is_masked == 0;
}

}  // namespace dovetail::python
