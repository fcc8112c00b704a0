#include "dovetail/python/module/functions/functions.h"

#include <string>
#include <string_view>
#include <vector>

#include "dovetail/core/registry.h"

namespace dovetail::python {
namespace {

// A reason may name a file, whose name is any bytes.
PyObject* Text(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

// Takes over the references; false where one is missing.
bool SetItem(PyObject* dict, PyObject* key, PyObject* value) {
  const bool set = key != nullptr && value != nullptr && PyDict_SetItem(dict, key, value) == 0;
  Py_XDECREF(key);
  Py_XDECREF(value);
  return set;
}

// nullptr, with an exception set, if there is no memory.
PyObject* ListOf(const std::vector<std::string>& texts) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(texts.size()));
  for (size_t i = 0; list != nullptr && i < texts.size(); ++i) {
    PyObject* text = PyUnicode_DecodeFSDefault(texts[i].c_str());
    if (text == nullptr) Py_CLEAR(list);
    if (list != nullptr) PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), text);
  }
  return list;
}

}  // namespace

PyObject* BackendsFunction(PyObject*, PyObject*) {
  PyObject* result = PyDict_New();
  if (result == nullptr) return nullptr;
  for (DeviceBackend* backend : Registry::Shared().Backends()) {
    const absl::StatusOr<int> count = backend->DeviceCount();
    PyObject* devices = count.ok() ? PyLong_FromLong(*count) : Text(count.status().message());
    if (!SetItem(result, Text(backend->name()), devices)) {
      Py_DECREF(result);
      return nullptr;
    }
  }
  return result;
}

PyObject* LibraryFilesFunction(PyObject*, PyObject*) {
  PyObject* result = PyDict_New();
  if (result == nullptr) return nullptr;
  for (DeviceBackend* backend : Registry::Shared().Backends()) {
    if (!SetItem(result, Text(backend->name()), ListOf(backend->LibraryFiles()))) {
      Py_DECREF(result);
      return nullptr;
    }
  }
  return result;
}

}  // namespace dovetail::python
