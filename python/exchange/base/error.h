// Turns C++ errors into Python exceptions. No other file does.
//
//   if (!status.ok()) return RaiseStatus(status);          // by the code of the status
//   return RaiseExchange("why it can't be exchanged, and the remedy");
//
//   InvalidArgument ValueError          ResourceExhausted  MemoryError
//   OutOfRange      IndexError          NotFound           RuntimeError
//   FailedPrecondition  ExchangeError   anything else      RuntimeError
//
// An error that began as an exception in a program's own code (NoteCause) has it as its __cause__.
//
// The library defines no exception class. A module passes its own classes to SetExchangeErrors();
// until then BufferError is raised for both. All functions need the GIL. The Raise functions set an
// error and return nullptr, so a caller can write `return Raise(...)`.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_ERROR_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_ERROR_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <new>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "dovetail/python/exchange/base/thread_end.h"

namespace dovetail::python {

// The classes to raise from now on: `exchange` for tensors that can't be exchanged, `stream` for a
// stream that the device does not have. Both are kept alive for the life of the process.
void SetExchangeErrors(PyObject* exchange, PyObject* stream);

// A borrowed reference to the class for tensors that can't be exchanged.
PyObject* ExchangeError();

std::nullptr_t RaiseStatus(const absl::Status& status);
// For code that is called through C++ and returns a status: takes the exception that is set, so
// that RaiseStatus and RaiseExchange, on this thread, chain it to a status whose message contains
// the text that is returned. One that is no Exception, such as KeyboardInterrupt, is raised itself.
std::string NoteCause(std::string_view what);
void ForgetCause();
// An ExchangeError whatever the code is, except for lack of memory and interrupted work. For
// imports and exports, where any fault of the other side's tensor is a matter of exchange.
std::nullptr_t RaiseExchange(const absl::Status& status);
std::nullptr_t RaiseExchange(std::string_view message);
// The class for streams: dovetail.StreamError, which is also a RuntimeError, as NumPy raises.
std::nullptr_t RaiseStream(std::string_view message);
// An ExchangeError with `cause` as its __cause__. Steals the reference to `cause`.
std::nullptr_t RaiseExchangeFrom(PyObject* cause, std::string_view message);
// An ExchangeError from the error of another library's that is set: "what: ValueError: text".
std::nullptr_t RaiseExchangeFromSet(std::string_view what);
// The error of every export of a tensor that requires gradients.
std::nullptr_t RaiseRequiresGrad();
std::nullptr_t Raise(PyObject* type, std::string_view message);

// Takes the current exception with its traceback, and clears it. Returns a new reference.
PyObject* TakeError();
// Sets the exception again. Steals the reference.
void RestoreError(PyObject* error);

// Drops an object of a producer's while an exception is set. It is set aside meanwhile: what the
// object's destructor calls may run code that does not expect one, or clear it.
inline void DropBesideError(nanobind::object* object) {
  nanobind::error_scope in_flight;
  object->reset();
}

// The text of the current exception, which stays set: its class's name if it has no text.
std::string MessageOfError();

// Clears the current exception, or returns false and leaves it set if it is no Exception (such as
// KeyboardInterrupt). An exception must be set.
inline bool ForgetException() {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
  PyErr_Clear();
  return true;
}

// Calls kFunction and turns a C++ exception into a Python one, since none may cross a C frame.
// Wraps every slot and method: {"name", Guard<&Function>, ...}. Returns nullptr or -1 on failure.
template <auto kFunction, typename... Args>
auto Guard(Args... args) noexcept -> decltype(kFunction(args...)) {
  using Result = decltype(kFunction(args...));
  try {
    return HangAtThreadEnd([&] { return kFunction(args...); });
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (nanobind::python_error& e) {
    e.restore();
  } catch (const std::exception& e) {
    // Some of nanobind's functions leave the error of a Python call set.
    if (PyErr_Occurred() == nullptr) Raise(PyExc_RuntimeError, e.what());
  }
  if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return static_cast<Result>(-1);
  }
}

// How one way of importing an object ended.
enum class ExchangeResult {
  kDone,      // the tensor was imported
  kNotTaken,  // another way has to be tried; no error is set
  kError,     // an error is set
};

inline ExchangeResult ResultOf(bool done) {
  return done ? ExchangeResult::kDone : ExchangeResult::kError;
}

// For a way that did not succeed: kError if an error is set (an interrupt), else kNotTaken.
inline ExchangeResult NotTaken() {
  return PyErr_Occurred() == nullptr ? ExchangeResult::kNotTaken : ExchangeResult::kError;
}

// "module.Class", for errors and reports. Keeps a Python error that is set.
std::string ClassName(PyTypeObject* type);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_ERROR_H_
