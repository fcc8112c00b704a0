// State of the process that the GIL guards. In builds of CPython without the GIL it is atomic.
//
//   static constinit GilGuarded<PyObject*> function(nullptr);
//   if (function.load() == nullptr) function.store(FindFunction());   // two threads may both do it
//   const Names& names = MadeOnce<Names>();
//
// For what is made when it is first needed, where a second making does no harm. With the GIL it
// costs no more than a plain variable. Python code must not run in the initialiser of a local
// static variable: a thread that waits for the initialiser keeps its thread state, and the one that
// runs it may wait for the GIL, or for all other threads to stop. Needs the GIL, or a thread state
// without one.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_GIL_GUARDED_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_GIL_GUARDED_H_

#include <Python.h>

#include <atomic>

namespace dovetail::python {

#ifdef Py_GIL_DISABLED
inline constexpr bool kHasGil = false;
#else
inline constexpr bool kHasGil = true;
#endif

template <typename T>
class GilGuarded {
 public:
  constexpr explicit GilGuarded(T value) : value_(value) {}

#ifdef Py_GIL_DISABLED
  // What was written before store() is seen after load().
  T load() const { return value_.load(std::memory_order_acquire); }
  void store(T value) { value_.store(value, std::memory_order_release); }

 private:
  std::atomic<T> value_;
#else
  T load() const { return value_; }
  void store(T value) { value_ = value; }

 private:
  T value_;
#endif
};

// The T that all callers share. It lives as long as the process. Without the GIL, threads that
// come first at the same time may get one each.
template <typename T>
const T& MadeOnce() {
  static constinit GilGuarded<const T*> shared(nullptr);
  const T* made = shared.load();
  if (made == nullptr) [[unlikely]] {
    made = new T;
    shared.store(made);
  }
  return *made;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_GIL_GUARDED_H_
