#include "dovetail/python/src/error.h"

namespace dovetail::python {
namespace {

PyObject* exchange_error = nullptr;

constexpr char kDoc[] =
    "A tensor can't be exchanged as it was asked for. The message says why, and what to do.\n\n"
    "Both a BufferError and a ValueError: the array API standard names the first for exports that\n"
    "can't be made and the second for copy=False where a copy would be needed.";

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

bool AddExchangeError(PyObject* module) {
  PyObject* bases = PyTuple_Pack(2, PyExc_BufferError, PyExc_ValueError);
  if (bases == nullptr) return false;
  exchange_error = PyErr_NewExceptionWithDoc("dovetail.ExchangeError", kDoc, bases, nullptr);
  Py_DECREF(bases);
  return exchange_error != nullptr &&
         PyModule_AddObjectRef(module, "ExchangeError", exchange_error) == 0;
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
  return Raise(TypeFor(status.code()), status.message());
}

std::nullptr_t RaiseExchange(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kResourceExhausted) return RaiseStatus(status);
  return RaiseExchange(status.message());
}

std::nullptr_t RaiseExchange(std::string_view message) { return Raise(exchange_error, message); }

std::nullptr_t RaiseRequiresGrad() {
  return RaiseExchange("Can't export tensors that require gradient; use tensor.detach().");
}

}  // namespace dovetail::python
