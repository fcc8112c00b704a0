// Arguments of the module's plain C functions: parsing by position and by keyword.
//
//   static constinit const Signature kSignature{"from_dlpack", 1, 1, {"x", "device", "copy"}};
//   PyObject* values[3];
//   if (!kSignature.Parse(args, nargs, kwnames, values)) return nullptr;
//
// All functions need the GIL and return false with a Python error set.

#ifndef DOVETAIL_PYTHON_MODULE_ARGUMENTS_ARGUMENTS_H_
#define DOVETAIL_PYTHON_MODULE_ARGUMENTS_ARGUMENTS_H_

#include <Python.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "dovetail/python/exchange/base/lookup.h"

namespace dovetail::python {

// The parameters of a METH_FASTCALL | METH_KEYWORDS function. The names are interned when a call
// first gives one.
class Signature {
 public:
  static constexpr int kMaxParameters = 8;

  // `positional` parameters may be given by position, the first `required` must be given, and the
  // first `positional_only` may not be given by name.
  constexpr Signature(const char* function, int positional, int required,
                      std::initializer_list<const char*> names, int positional_only = 0)
      : function_(function),
        positional_(positional),
        required_(required),
        positional_only_(positional_only),
        count_(0) {
    for (const char* name : names) names_[count_++].set_text(name);
  }

  // Borrowed references in the order of the names; nullptr for what was not given.
  bool Parse(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** values) const {
    const bool as_before = kwnames == nullptr ? nargs >= required_ && nargs <= positional_
                                              : kwnames == last_.kwnames && nargs == last_.nargs;
    if (!as_before) return ParseAnew(args, nargs, kwnames, values);
    for (int i = 0; i < count_; ++i) values[i] = i < nargs ? args[i] : nullptr;
    if (kwnames == nullptr) return true;
    const Py_ssize_t keywords = PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t k = 0; k < keywords; ++k) values[last_.places[k]] = args[nargs + k];
    return true;
  }

 private:
  // Where the keywords of the last call went. A call site passes the same tuple of names every
  // time, so each name is looked up once.
  struct LastCall {
    PyObject* kwnames = nullptr;  // kept alive: the next call is compared by address
    Py_ssize_t nargs = 0;
    uint8_t places[kMaxParameters] = {};
  };

  bool ParseAnew(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                 PyObject** values) const;
  int Find(PyObject* name) const;

  const char* function_;
  int positional_, required_, positional_only_, count_;
  mutable InternedName names_[kMaxParameters];
  mutable LastCall last_;  // guarded by the GIL; stays empty in builds without one
};

inline bool IsGiven(PyObject* value) { return value != nullptr && value != Py_None; }

// True, False or None.
bool ParseOptionalBool(PyObject* value, const char* name, std::optional<bool>* result);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_ARGUMENTS_ARGUMENTS_H_
