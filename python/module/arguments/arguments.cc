#include "dovetail/python/module/arguments/arguments.h"

#include <nanobind/nanobind.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"

namespace nb = nanobind;

namespace dovetail::python {

int Signature::Find(PyObject* name) const {
  for (int i = positional_only_; i < count_; ++i) {
    PyObject* const known = names_[i].get();
    if (known == name) return i;
    if (known == nullptr) PyErr_Clear();  // there was no memory to intern it
  }
  for (int i = positional_only_; i < count_; ++i) {  // a name that was not interned
    if (PyUnicode_CompareWithASCIIString(name, names_[i].text()) == 0) return i;
  }
  return -1;
}

bool Signature::ParseAnew(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                          PyObject** values) const {
  if (nargs > positional_) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments, %zd were given",
                 function_, positional_, nargs);
    return false;
  }
  for (int i = 0; i < count_; ++i) values[i] = i < nargs ? args[i] : nullptr;
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  LastCall call{kwnames, nargs};
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, k);
    const int i = Find(name);
    if (i < 0 || values[i] != nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() got %s keyword argument '%U'", function_,
                   i < 0 ? "an unexpected" : "the positional argument once more as the", name);
      return false;
    }
    values[i] = args[nargs + k];
    call.places[k] = static_cast<uint8_t>(i);
  }
  for (int i = 0; i < required_; ++i) {
    if (values[i] == nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() misses the argument '%s'", function_, names_[i].text());
      return false;
    }
  }
  if (kHasGil && keywords > 0) {
    PyObject* former = last_.kwnames;
    last_ = call;
    Py_INCREF(kwnames);
    Py_XDECREF(former);
  }
  return true;
}

bool ParseOptionalBool(PyObject* value, const char* name, std::optional<bool>* result) {
  result->reset();
  if (!IsGiven(value)) return true;
  // NumPy's bool is none of Python's; an array is no truth value, and says so by its own error.
  const int is_true = PyObject_IsTrue(value);
  if (is_true < 0) return false;
  if (!PyBool_Check(value) &&
      !std::string_view(Py_TYPE(value)->tp_name).starts_with("numpy.bool")) {
    PyErr_Format(PyExc_TypeError, "%s must be True, False or None, not %R", name, value);
    return false;
  }
  *result = is_true == 1;
  return true;
}

}  // namespace dovetail::python
