// StdMutex: std::mutex with annotations for clang's thread-safety analysis (-Wthread-safety), which
// does not know std::mutex.
//
//   StdMutex mutex_;
//   int count_ ABSL_GUARDED_BY(mutex_) = 0;
//   …
//   const StdMutexLock lock(mutex_);
//   ++count_;
//
// For mutexes that fork() waits for (HoldDuringForks) and for use with std::condition_variable. Use
// absl::Mutex elsewhere: a child that is forked while a thread waits for an absl::Mutex can't use
// it.

#ifndef DOVETAIL_CORE_INTERNAL_STD_MUTEX_H_
#define DOVETAIL_CORE_INTERNAL_STD_MUTEX_H_

#include <pthread.h>

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class ABSL_LOCKABLE StdMutex {
 public:
  constexpr StdMutex() = default;
  StdMutex(const StdMutex&) = delete;
  StdMutex& operator=(const StdMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // Tells the analysis that this thread holds it. Checks nothing.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class StdMutexLock;
  std::mutex mutex_;
};

// Holds a StdMutex for a scope.
class ABSL_SCOPED_LOCKABLE StdMutexLock {
 public:
  explicit StdMutexLock(StdMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : lock_(mutex.mutex_) {}
  ~StdMutexLock() ABSL_UNLOCK_FUNCTION() {}
  StdMutexLock(const StdMutexLock&) = delete;
  StdMutexLock& operator=(const StdMutexLock&) = delete;

  void Unlock() ABSL_UNLOCK_FUNCTION() { lock_.unlock(); }
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { lock_.lock(); }

  // Releases the mutex until `condition` is notified. It may return without a notification.
  void Wait(std::condition_variable& condition) { condition.wait(lock_); }

 private:
  std::unique_lock<std::mutex> lock_;
};

// Makes every later fork() wait for the mutex that kGet() returns, so that the child finds it free
// and what it guards whole. In the child, kInChild(), if any, is called with the mutex held. Call
// it once.
template <StdMutex& (*kGet)(), void (*kInChild)() = nullptr>
void HoldDuringForks() {
  pthread_atfork([]() ABSL_NO_THREAD_SAFETY_ANALYSIS { kGet().Lock(); },
                 []() ABSL_NO_THREAD_SAFETY_ANALYSIS { kGet().Unlock(); },
                 []() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                   if constexpr (kInChild != nullptr) kInChild();
                   kGet().Unlock();
                 });
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_STD_MUTEX_H_
