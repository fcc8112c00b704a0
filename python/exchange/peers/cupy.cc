#include "dovetail/python/exchange/peers/cupy.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace dovetail::python {

bool CupyStream(void** stream) {
  nb::object cuda = nb::steal(PyImport_ImportModule("cupy.cuda"));
  nb::object current =
      cuda.is_valid() ? nb::steal(PyObject_CallMethod(cuda.ptr(), "get_current_stream", nullptr))
                      : nb::object();
  nb::object handle =
      current.is_valid() ? nb::steal(PyObject_GetAttrString(current.ptr(), "ptr")) : nb::object();
  if (!handle.is_valid()) return false;
  *stream = PyLong_AsVoidPtr(handle.ptr());
  return PyErr_Occurred() == nullptr;
}

}  // namespace dovetail::python
