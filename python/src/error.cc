#include "dovetail/python/src/error.h"

#include <cstring>

namespace dovetail::python {
namespace {

PyObject* exchange_error = nullptr;
PyObject* stream_error = nullptr;

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

PyObject* TypeFor(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return PyExc_ValueError;
    case absl::StatusCode::kOutOfRange:
      return PyExc_IndexError;
    case absl::StatusCode::kFailedPrecondition:
      return exchange_error;
    case absl::StatusCode::kResourceExhausted:
      return PyExc_MemoryError;
    default:
      return PyExc_RuntimeError;
  }
}

}  // namespace

bool AddExchangeErrors(PyObject* module) {
  exchange_error =
      AddError(module, "dovetail.ExchangeError", kDoc, PyExc_BufferError, PyExc_ValueError);
  if (exchange_error == nullptr) return false;
  stream_error =
      AddError(module, "dovetail.StreamError", kStreamDoc, exchange_error, PyExc_RuntimeError);
  return stream_error != nullptr;
}

PyObject* ExchangeError() { return exchange_error; }

std::nullptr_t Raise(PyObject* type, std::string_view message) {
  PyObject* text = PyUnicode_DecodeUTF8(message.data(), message.size(), "replace");
  if (text != nullptr) {
    PyErr_SetObject(type, text);
    Py_DECREF(text);
  }
  return nullptr;
}

std::nullptr_t RaiseStatus(const absl::Status& status) {
  // What was stopped by a signal's handler has the handler's exception (without_gil.h).
  if (status.code() == absl::StatusCode::kCancelled && PyErr_Occurred() != nullptr) return nullptr;
  return Raise(TypeFor(status.code()), status.message());
}

std::nullptr_t RaiseExchange(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kResourceExhausted ||
      status.code() == absl::StatusCode::kCancelled) {
    return RaiseStatus(status);
  }
  return RaiseExchange(status.message());
}

std::nullptr_t RaiseExchange(std::string_view message) { return Raise(exchange_error, message); }

std::nullptr_t RaiseExchangeFrom(PyObject* cause, std::string_view message) {
  RaiseExchange(message);
  PyObject* error = TakeError();
  PyException_SetContext(error, Py_NewRef(cause));
  PyException_SetCause(error, cause);
  RestoreError(error);
  return nullptr;
}

PyObject* TakeError() {
#if PY_VERSION_HEX >= 0x030c0000
  return PyErr_GetRaisedException();
#else
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
#endif
}

void RestoreError(PyObject* error) {
#if PY_VERSION_HEX >= 0x030c0000
  PyErr_SetRaisedException(error);
#else
  PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(error))), error,
                PyException_GetTraceback(error));
#endif
}

std::nullptr_t RaiseStream(std::string_view message) { return Raise(stream_error, message); }

std::nullptr_t RaiseRequiresGrad() {
  return RaiseExchange("Can't export tensors that require gradient; use tensor.detach().");
}

}  // namespace dovetail::python
