// The end of a thread inside of Python: where CPython would end a daemon thread, it hangs instead.
//
//   TakeGil(thread_state);                                         // PyEval_RestoreThread
//   nb::object r = HangAtThreadEnd([&] { return CallTheirCode(); });
//
// While the interpreter shuts down, CPython before 3.14 ends each thread that waits for the GIL by
// pthread_exit. glibc then unwinds the thread's stack. That must not pass through our frames: a
// noexcept one calls std::terminate, and destructors would touch Python objects without the GIL.
// CPython 3.14 hangs such threads, and so does this: the process ends without them. Py_IsFinalizing
// would not do as a question before: the answer may change until the GIL is asked for, and the main
// thread is still given it.
//
// Every entry point is called so (Guard, error.h). Calls of Python code in functions that hold
// references are besides, since destructors between the two would drop these without the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_LIFETIME_THREAD_END_H_
#define DOVETAIL_PYTHON_EXCHANGE_LIFETIME_THREAD_END_H_

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace dovetail::python {

[[noreturn, gnu::cold]] inline void HangThread() noexcept {
  while (true) pause();
}

// What `work` returns, which may take the GIL: by itself, or by running Python code. Costs nothing
// as long as the thread goes on.
template <typename Work>
decltype(auto) HangAtThreadEnd(Work work) {
#if PY_VERSION_HEX < 0x030e0000 && defined(__GLIBCXX__)
  try {
    return work();
  } catch (const abi::__forced_unwind&) {
    HangThread();
  }
#else
  return work();
#endif
}

// Takes the GIL for a thread that let it go by PyEval_SaveThread.
inline void TakeGil(PyThreadState* thread) noexcept {
  HangAtThreadEnd([&] { PyEval_RestoreThread(thread); });
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_LIFETIME_THREAD_END_H_
