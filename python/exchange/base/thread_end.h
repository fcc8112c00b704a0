// Hangs a daemon thread at the point where CPython would end it during shutdown.
//
//   TakeGil(thread_state);                                         // PyEval_RestoreThread
//   nb::object r = HangAtThreadEnd([&] { return CallTheirCode(); });
//
// While the interpreter shuts down, CPython before 3.14 ends each thread that waits for the GIL by
// pthread_exit. glibc then unwinds the thread's stack. That must not pass through our frames: a
// noexcept one calls std::terminate, and destructors would touch Python objects without the GIL.
// CPython 3.14 hangs such threads, and so does this header: the process ends without them. A check
// of Py_IsFinalizing beforehand is not enough: the answer may change before the GIL is requested,
// and the main thread is still given the GIL.
//
// Every entry point is wrapped so (Guard, error.h). Functions that hold references also wrap their
// calls of Python code, because destructors on the way out would drop references without the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_THREAD_END_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_THREAD_END_H_

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

#include <exception>
#include <type_traits>

namespace dovetail::python {

[[noreturn, gnu::cold]] inline void HangThread() noexcept {
  while (true) pause();
}

// Hangs the thread if the scope is left by something other than a return or a C++ exception.
class HangAtForcedUnwind {
 public:
  HangAtForcedUnwind() = default;
  HangAtForcedUnwind(const HangAtForcedUnwind&) = delete;
  HangAtForcedUnwind& operator=(const HangAtForcedUnwind&) = delete;
  ~HangAtForcedUnwind() {
    if (!returns && std::uncaught_exceptions() == 0) HangThread();
  }

  bool returns = false;
};

// Returns what `work` returns. `work` may take the GIL itself or run Python code. Costs nothing
// unless the thread ends.
template <typename Work>
decltype(auto) HangAtThreadEnd(Work work) {
#if PY_VERSION_HEX >= 0x030e0000
  return work();
#elif defined(__GLIBCXX__)
  try {
    return work();
  } catch (const abi::__forced_unwind&) {
    HangThread();
  }
#else  // libc++ has no such class
  HangAtForcedUnwind guard;
  if constexpr (std::is_void_v<decltype(work())>) {
    work();
    guard.returns = true;
  } else {
    decltype(auto) result = work();
    guard.returns = true;
    return result;
  }
#endif
}

// Takes the GIL for a thread that released it by PyEval_SaveThread.
inline void TakeGil(PyThreadState* thread) noexcept {
  HangAtThreadEnd([&] { PyEval_RestoreThread(thread); });
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_THREAD_END_H_
