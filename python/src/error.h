// The one place that turns C++ errors into Python exceptions.
//
//   if (!status.ok()) return RaiseStatus(status);          // by the status' code
//   return RaiseExchange("why it can't be exchanged, and the remedy");
//
//   InvalidArgument ValueError          ResourceExhausted  MemoryError
//   OutOfRange      IndexError          NotFound           RuntimeError
//   FailedPrecondition  ExchangeError   anything else      RuntimeError
//
// ExchangeError is both a BufferError (the array API standard's word for what can't be exported)
// and a ValueError (its word for copy=False that would have to copy). All functions need the GIL,
// set the error indicator and return nullptr, so that they can be returned.

#ifndef DOVETAIL_PYTHON_SRC_ERROR_H_
#define DOVETAIL_PYTHON_SRC_ERROR_H_

#include <Python.h>

#include <new>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "dovetail/python/src/thread_end.h"

namespace dovetail::python {

// Creates ExchangeError and StreamError in `module`. False with an error set.
bool AddExchangeErrors(PyObject* module);

// A borrowed reference to dovetail.ExchangeError.
PyObject* ExchangeError();

std::nullptr_t RaiseStatus(const absl::Status& status);
// An ExchangeError whatever the code is, but for lack of memory: for the doors, where what is wrong
// with the other side's tensor is a matter of exchange.
std::nullptr_t RaiseExchange(const absl::Status& status);
std::nullptr_t RaiseExchange(std::string_view message);
// A StreamError: an ExchangeError that is a RuntimeError too, which NumPy answers a stream with.
std::nullptr_t RaiseStream(std::string_view message);
// The same from an error of somebody else's, which is taken over and becomes its __cause__.
std::nullptr_t RaiseExchangeFrom(PyObject* cause, std::string_view message);
// What every export of a tensor that requires gradients answers.
std::nullptr_t RaiseRequiresGrad();
std::nullptr_t Raise(PyObject* type, std::string_view message);

// The exception in flight, taken out of flight with its traceback, and back in flight. References
// are handed over.
PyObject* TakeError();
void RestoreError(PyObject* error);

// Drops the error in flight. False, with it still set, if it is no Exception (KeyboardInterrupt).
inline bool ForgetException() {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
  PyErr_Clear();
  return true;
}

// Calls `function` and turns a C++ exception into a Python one, since none may cross a C frame.
// What every slot and method of ours is wrapped in: {"name", Guard<&Function>, ...}.
template <auto kFunction, typename... Args>
auto Guard(Args... args) noexcept -> decltype(kFunction(args...)) {
  using Result = decltype(kFunction(args...));
  try {
    return HangAtThreadEnd([&] { return kFunction(args...); });
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    Raise(PyExc_RuntimeError, e.what());
  }
  if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return static_cast<Result>(-1);
  }
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ERROR_H_
