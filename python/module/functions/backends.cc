#include "dovetail/python/module/functions/backends.h"

#include <string_view>

#include "dovetail/core/registry.h"

namespace dovetail::python {
namespace {

PyObject* Text(std::string_view text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// Takes over the references; false where one is missing.
bool SetItem(PyObject* dict, PyObject* key, PyObject* value) {
  const bool set = key != nullptr && value != nullptr && PyDict_SetItem(dict, key, value) == 0;
  Py_XDECREF(key);
  Py_XDECREF(value);
  return set;
}

}  // namespace

PyObject* BackendsFunction(PyObject*, PyObject*) {
  PyObject* result = PyDict_New();
  if (result == nullptr) return nullptr;
  for (DeviceBackend* backend : Registry::Global().Backends()) {
    const absl::StatusOr<int> count = backend->DeviceCount();
    PyObject* devices = count.ok() ? PyLong_FromLong(*count) : Text(count.status().message());
    if (!SetItem(result, Text(backend->name()), devices)) {
      Py_DECREF(result);
      return nullptr;
    }
  }
  return result;
}

}  // namespace dovetail::python
