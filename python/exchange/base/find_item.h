// Looks up an item that a dict may have.
//
//   nb::object value;
//   if (!FindItem(dict, key, &value)) return nullptr;
//   if (value.is_valid()) …
//
// Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_FIND_ITEM_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_FIND_ITEM_H_

#include <Python.h>
#include <nanobind/nanobind.h>

namespace dovetail::python {

// `*value` becomes dict[key], or invalid if there is none. False with an error set if the key
// can't be hashed or compared. The reference is a strong one: another thread may replace the item.
inline bool FindItem(PyObject* dict, PyObject* key, nanobind::object* value) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* found;
  const int result = PyDict_GetItemRef(dict, key, &found);
  *value = nanobind::steal(found);
  return result >= 0;
#else
  *value = nanobind::borrow(PyDict_GetItemWithError(dict, key));
  return value->is_valid() || PyErr_Occurred() == nullptr;
#endif
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_FIND_ITEM_H_
