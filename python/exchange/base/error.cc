#include "dovetail/python/exchange/base/error.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// nullptr: SetExchangeErrors was not called. (PyExc_BufferError is no constant.)
PyObject* exchange_error = nullptr;
PyObject* stream_error = nullptr;

PyObject* StreamError() { return stream_error != nullptr ? stream_error : PyExc_BufferError; }

PyObject* TypeFor(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return PyExc_ValueError;
    case absl::StatusCode::kOutOfRange:
      return PyExc_IndexError;
    case absl::StatusCode::kFailedPrecondition:
      return ExchangeError();
    case absl::StatusCode::kResourceExhausted:
      return PyExc_MemoryError;
    default:
      return PyExc_RuntimeError;
  }
}

}  // namespace

void SetExchangeErrors(PyObject* exchange, PyObject* stream) {
  exchange_error = Py_NewRef(exchange);
  stream_error = Py_NewRef(stream);
}

PyObject* ExchangeError() { return exchange_error != nullptr ? exchange_error : PyExc_BufferError; }

std::nullptr_t Raise(PyObject* type, std::string_view message) {
  PyObject* text = PyUnicode_DecodeUTF8(message.data(), message.size(), "replace");
  if (text != nullptr) {
    PyErr_SetObject(type, text);
    Py_DECREF(text);
  }
  return nullptr;
}

std::nullptr_t RaiseStatus(const absl::Status& status) {
  // Work that a signal handler stopped: the handler's exception is set already (without_gil.h).
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

std::nullptr_t RaiseExchange(std::string_view message) { return Raise(ExchangeError(), message); }

std::nullptr_t RaiseExchangeFrom(PyObject* cause, std::string_view message) {
  RaiseExchange(message);
  PyObject* error = TakeError();
  PyException_SetContext(error, Py_NewRef(cause));
  PyException_SetCause(error, cause);
  RestoreError(error);
  return nullptr;
}

std::nullptr_t RaiseExchangeFromSet(std::string_view what) {
  const std::string text = MessageOfError();
  PyObject* const cause = TakeError();
  return RaiseExchangeFrom(cause, std::string(what) + ": " + Py_TYPE(cause)->tp_name + ": " + text);
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

std::string MessageOfError() {
  nanobind::object error = nanobind::steal(TakeError());
  const nanobind::object text = nanobind::steal(PyObject_Str(error.ptr()));
  const char* words = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  std::string message = words != nullptr ? words : Py_TYPE(error.ptr())->tp_name;
  PyErr_Clear();
  RestoreError(error.release().ptr());
  return message;
}

std::nullptr_t RaiseStream(std::string_view message) { return Raise(StreamError(), message); }

std::nullptr_t RaiseRequiresGrad() {
  return RaiseExchange("Can't export tensors that require gradient; use tensor.detach().");
}

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
