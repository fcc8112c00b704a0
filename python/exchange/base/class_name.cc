#include "dovetail/python/exchange/base/class_name.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace dovetail::python {

std::string ClassName(PyTypeObject* type) {
  auto* const object = reinterpret_cast<PyObject*>(type);
  nb::error_scope in_flight;
  const nb::object module = nb::steal(PyObject_GetAttrString(object, "__module__"));
  const nb::object name = nb::steal(PyObject_GetAttrString(object, "__qualname__"));
  const nb::object text = module.is_valid() && name.is_valid()
                              ? nb::steal(PyUnicode_FromFormat("%S.%S", module.ptr(), name.ptr()))
                              : nb::object();
  const char* utf8 = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  const std::string result = utf8 != nullptr ? utf8 : type->tp_name;
  PyErr_Clear();
  return result;
}

}  // namespace dovetail::python
