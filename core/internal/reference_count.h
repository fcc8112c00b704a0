// ReferenceCount: how many own a thing. Atomic, but without the cost of that while the process has
// one thread.
//
//   ReferenceCount count;              // 1
//   count.Add();                       // 2
//   if (count.Drop()) Destroy();       // whether that was the last
//
// Any thread. An atomic addition takes as long as all the rest of an exchange's bookkeeping; as
// long as the C library knows of no second thread (glibc 2.32 and later tell), a plain one does. A
// thread sees what was counted before it was started.

#ifndef DOVETAIL_CORE_INTERNAL_REFERENCE_COUNT_H_
#define DOVETAIL_CORE_INTERNAL_REFERENCE_COUNT_H_

#include <atomic>
#include <cstdint>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define DOVETAIL_IS_SINGLE_THREADED() (__libc_single_threaded != 0)
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

  // The same for an owner whom nobody else can copy meanwhile: then the only one needs no atomic
  // addition, since all others come from it.
  void AddUnshared() {
    // (Acquires what those did who dropped theirs: the plain store hides it from the last Drop.)
    if (count_.load(std::memory_order_acquire) == 1) {
      count_.store(2, std::memory_order_relaxed);
    } else {
      Add();
    }
  }

  // Whether no owner is left. A sole owner needs no atomic subtraction: nobody else can add one.
  bool Drop() {
    const int64_t count = count_.load(std::memory_order_acquire);
    if (count == 1) return true;
    if (DOVETAIL_IS_SINGLE_THREADED()) {
      count_.store(count - 1, std::memory_order_relaxed);
      return false;
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // One owner again, of a thing that had none.
  void Restart() { count_.store(1, std::memory_order_relaxed); }

  int64_t value() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<int64_t> count_{1};
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#undef DOVETAIL_IS_SINGLE_THREADED

#endif  // DOVETAIL_CORE_INTERNAL_REFERENCE_COUNT_H_
