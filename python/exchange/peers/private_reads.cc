#include "dovetail/python/exchange/peers/private_reads.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/torch/torch_functions.h"
#include "dovetail/python/exchange/peers/torch/torch_private.h"
#include "dovetail/python/exchange/peers/torch/torch_state.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// A row's check: an expression, or the name of a C++ function's answer with the function.
struct Check {
  // NOLINTNEXTLINE(google-explicit-constructor): a row of the list has the expression alone.
  constexpr Check(const char* expression) : text(expression) {}
  constexpr Check(const char* name, bool (*function)()) : text(name), holds(function) {}

  const char* text;
  bool (*holds)() = nullptr;
};

struct Row {
  const char* library;
  const char* what;
  const char* where;
  const char* published;
  Check check;
};

constexpr Row kRows[] = {
#define DOVETAIL_TORCH(name, holds) {"dovetail checks " name, [] { return holds; }}
#define DOVETAIL_PRIVATE_READ(library, what, where, published, check) \
  {library, what, where, published, check},
#include "dovetail/python/exchange/peers/private_reads.inc"
#undef DOVETAIL_PRIVATE_READ
#undef DOVETAIL_TORCH
};

}  // namespace

PyObject* PrivateReads() {
  nb::object rows = nb::steal(PyList_New(0));
  for (const Row& row : kRows) {
    const nb::object entry = nb::steal(
        Py_BuildValue("(sssss)", row.library, row.what, row.where, row.published, row.check.text));
    if (!rows.is_valid() || !entry.is_valid() || PyList_Append(rows.ptr(), entry.ptr()) != 0) {
      return nullptr;
    }
  }
  return rows.release().ptr();
}

PyObject* CheckPrivateReads() {
  nb::object result = nb::steal(PyDict_New());
  if (!result.is_valid()) return nullptr;
  if (!EvaluateTorch("torch").is_valid()) {
    return Raise(PyExc_ImportError, "PyTorch can't be imported, or is too old");
  }
  for (const Row& row : kRows) {
    if (row.check.holds == nullptr) continue;
    const bool holds = row.check.holds();
    if (PyErr_Occurred() != nullptr ||
        PyDict_SetItemString(result.ptr(), row.check.text, holds ? Py_True : Py_False) != 0) {
      return nullptr;
    }
  }
  return result.release().ptr();
}

}  // namespace dovetail::python
