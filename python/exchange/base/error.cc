#include "dovetail/python/exchange/base/error.h"

#include <nanobind/nanobind.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/lookup.h"

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

// The noted cause is a tuple (text, exception) in the thread's dict. (A thread_local would take of
// the static TLS, of which the dynamic linker has little.)
constinit InternedName cause_name("dovetail._core.cause");
constinit GilGuarded<bool> ever_noted(false);

// A borrowed reference; nullptr, without an error, if there is none.
PyObject* NotedCause() {
  PyObject* const dict = PyThreadState_GetDict();
  PyObject* const name = cause_name.get();
  PyObject* const noted =
      dict != nullptr && name != nullptr ? PyDict_GetItemWithError(dict, name) : nullptr;
  if (noted == nullptr) PyErr_Clear();
  return noted;
}

// Chains the noted exception to the error that is set, if its text is in `message`.
void AttachCause(std::string_view message) {
  if (!ever_noted.load()) return;
  PyObject* const error = TakeError();
  PyObject* const noted = NotedCause();
  const char* text = noted != nullptr ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(noted, 0)) : nullptr;
  if (text == nullptr || !absl::StrContains(message, text)) {
    PyErr_Clear();
    return RestoreError(error);
  }
  PyObject* const cause = Py_NewRef(PyTuple_GET_ITEM(noted, 1));
  ForgetCause();
  if (!PyObject_TypeCheck(cause, reinterpret_cast<PyTypeObject*>(PyExc_Exception))) {
    Py_DECREF(error);
    return RestoreError(cause);
  }
  PyException_SetContext(error, Py_NewRef(cause));
  PyException_SetCause(error, cause);
  RestoreError(error);
}

}  // namespace

std::string NoteCause(std::string_view what) {
  const std::string reason = MessageOfError();
  const nb::object exception = nb::steal(TakeError());
  std::string text = absl::StrCat(what, ": ", Py_TYPE(exception.ptr())->tp_name, ": ", reason);
  PyObject* const dict = PyThreadState_GetDict();
  PyObject* const name = cause_name.get();
  const nb::object words =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  const nb::object noted =
      nb::steal(words.is_valid() ? PyTuple_Pack(2, words.ptr(), exception.ptr()) : nullptr);
  // Without memory for it, the error is raised without a cause.
  if (dict != nullptr && name != nullptr && noted.is_valid() &&
      PyDict_SetItem(dict, name, noted.ptr()) == 0) {
    ever_noted.store(true);
  }
  PyErr_Clear();
  return text;
}

void ForgetCause() {
  if (ever_noted.load() && NotedCause() != nullptr)
    PyDict_DelItem(PyThreadState_GetDict(), cause_name.get());
}

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
  Raise(TypeFor(status.code()), status.message());
  AttachCause(status.message());
  return nullptr;
}

std::nullptr_t RaiseExchange(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kResourceExhausted ||
      status.code() == absl::StatusCode::kCancelled) {
    return RaiseStatus(status);
  }
  RaiseExchange(status.message());
  AttachCause(status.message());
  return nullptr;
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
