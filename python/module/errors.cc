#include "dovetail/python/module/errors.h"

#include <cstring>

#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {
namespace {

constexpr char kDoc[] =
    "A tensor can't be exchanged as it was asked for. The message says why, and what to do.\n\n"
    "Both a BufferError and a ValueError: the array API standard names the first for exports that\n"
    "can't be made and the second for copy=False where a copy would be needed.";

constexpr char kStreamDoc[] =
    "A tensor was asked for on a stream that its device does not have.\n\n"
    "An ExchangeError that is a RuntimeError too, which is what NumPy raises.";

// A new exception of two bases, added to `module`; nullptr with an error set.
PyObject* AddError(PyObject* module, const char* name, const char* doc, PyObject* base1,
                   PyObject* base2) {
  PyObject* bases = PyTuple_Pack(2, base1, base2);
  if (bases == nullptr) return nullptr;
  PyObject* error = PyErr_NewExceptionWithDoc(name, doc, bases, nullptr);
  Py_DECREF(bases);
  if (error == nullptr) return nullptr;
  return PyModule_AddObjectRef(module, std::strchr(name, '.') + 1, error) == 0 ? error : nullptr;
}

}  // namespace

bool AddExchangeErrors(PyObject* module) {
  PyObject* const exchange =
      AddError(module, "dovetail.ExchangeError", kDoc, PyExc_BufferError, PyExc_ValueError);
  if (exchange == nullptr) return false;
  PyObject* const stream =
      AddError(module, "dovetail.StreamError", kStreamDoc, exchange, PyExc_RuntimeError);
  if (stream == nullptr) return false;
  SetExchangeErrors(exchange, stream);
  return true;
}

}  // namespace dovetail::python
