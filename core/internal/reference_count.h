// ReferenceCount: the number of owners of an object. It is atomic, but avoids the cost of atomic
// additions while the process has one thread.
//
//   ReferenceCount count;              // 1
//   count.Add();                       // 2
//   if (count.Drop()) Destroy();       // true if that was the last owner
//
// Any thread. An atomic addition takes as long as all the rest of an exchange's bookkeeping. A
// plain addition suffices while the C library reports a single thread (glibc 2.32 and later). A new
// thread sees the count from before it was started.

#ifndef DOVETAIL_CORE_INTERNAL_REFERENCE_COUNT_H_
#define DOVETAIL_CORE_INTERNAL_REFERENCE_COUNT_H_

#include <atomic>
#include <cstdint>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
#include <sys/single_threaded.h>
#define DOVETAIL_IS_SINGLE_THREADED() (__libc_single_threaded != 0)
#elif defined(__GLIBC__)
// A build for an older glibc asks the one that it runs with, which may be newer.
extern "C" char __libc_single_threaded __attribute__((weak));
#define DOVETAIL_IS_SINGLE_THREADED() \
  (&__libc_single_threaded != nullptr && __libc_single_threaded != 0)
#else
#define DOVETAIL_IS_SINGLE_THREADED() false
#endif

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class ReferenceCount {
 public:
  void Add() {
    if (DOVETAIL_IS_SINGLE_THREADED()) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  // Add for an owner that no other thread can copy at the same time. A sole owner then needs no
  // atomic addition, because all further owners are copies of it.
  void AddUnshared() {
    // Acquires the work of owners that have dropped theirs, since the plain store hides it from the
    // last Drop.
    if (count_.load(std::memory_order_acquire) == 1) {
      count_.store(2, std::memory_order_relaxed);
    } else {
      Add();
    }
  }

  // Removes an owner. Returns whether it was the last one. A sole owner needs no atomic
  // subtraction, because nobody else can add an owner.
  bool Drop() {
    const int64_t count = count_.load(std::memory_order_acquire);
    if (count == 1) return true;
    if (DOVETAIL_IS_SINGLE_THREADED()) {
      count_.store(count - 1, std::memory_order_relaxed);
      return false;
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // Sets the count of an object without owners back to one.
  void Restart() { count_.store(1, std::memory_order_relaxed); }

  int64_t value() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<int64_t> count_{1};
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#undef DOVETAIL_IS_SINGLE_THREADED

#endif  // DOVETAIL_CORE_INTERNAL_REFERENCE_COUNT_H_
