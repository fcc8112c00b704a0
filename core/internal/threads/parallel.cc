#include "dovetail/core/internal/threads/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <new>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/exceptions.h"
#include "dovetail/core/internal/std_mutex.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

int AvailableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

std::atomic<int> num_threads{0};  // 0 if not yet determined
thread_local bool in_body = false;

// How long a thread spins before it sleeps. This is several times as long as waking a thread takes,
// and about as long as a copy of a few megabytes.
constexpr std::chrono::microseconds kLook{100};

template <typename Done>
void LookFor(Done done) {
  const auto until = std::chrono::steady_clock::now() + kLook;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
  } while (std::chrono::steady_clock::now() < until);
}

// While it lives, this thread handles no signals, except those that its own instructions cause and
// those of profilers. A program's handlers then run on the program's threads, and a program that
// waits for signals that it has blocked in its threads gets them.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int kept : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGSYS, SIGTRAP}) {
      sigdelset(&blocked, kept);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

// The current work of the pool. Threads take parts by incrementing a counter.
struct Work {
  Work(int64_t parts, absl::FunctionRef<void(int64_t)> body) : parts(parts), body(body) {}

  // noexcept: an exception would leave the pool with work that is gone, and here ends the program.
  void TakeParts() noexcept {
    in_body = true;
    for (int64_t part; (part = next.fetch_add(1, std::memory_order_relaxed)) < parts;) body(part);
    in_body = false;
  }

  const int64_t parts;
  const absl::FunctionRef<void(int64_t)> body;
  std::atomic<int64_t> next{0};
};

class Pool {
 public:
  // Returns false and does nothing if the pool is working for another thread.
  bool Run(Work& work, int helpers) {
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return false;
    {
      const StdMutexLock lock(mutex_);
      StartThreads(helpers);
      work_ = &work;
      wanted_ = std::min(helpers, threads_);
      calls_.fetch_add(1, std::memory_order_relaxed);
    }
    wake_.notify_all();
    work.TakeParts();
    {
      const StdMutexLock lock(mutex_);
      work_ = nullptr;  // no more threads join
    }
    LookFor([this] { return working_.load(std::memory_order_relaxed) == 0; });
    StdMutexLock lock(mutex_);
    while (working_ != 0) lock.Wait(done_);
    return true;
  }

 private:
  // Fewer threads suffice if the system or the memory has no more.
  void StartThreads(int count) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (threads_ >= count) return;
    const WithoutSignals block;  // the threads inherit it
    while (threads_ < count) {
      DOVETAIL_TRY {
        std::thread([this] { Serve(); }).detach();
      }
      DOVETAIL_CATCH(...) { return; }
      ++threads_;
    }
  }

  void Serve() {
    StdMutexLock lock(mutex_);
    while (true) {
      while (work_ == nullptr || wanted_ == 0) lock.Wait(wake_);
      Work* work = work_;
      --wanted_;
      ++working_;
      const uint64_t call = calls_.load(std::memory_order_relaxed);
      lock.Unlock();
      work->TakeParts();
      lock.Lock();
      if (--working_ == 0) done_.notify_one();
      lock.Unlock();
      LookFor([&] { return calls_.load(std::memory_order_relaxed) != call; });
      lock.Lock();
    }
  }

  std::mutex turn_;  // held while there is work; guards no member
  StdMutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Work* work_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int wanted_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that may still join
  int threads_ ABSL_GUARDED_BY(mutex_) = 0;
  // Written under mutex_, read without it.
  std::atomic<int> working_{0};     // threads that have joined
  std::atomic<uint64_t> calls_{0};  // the number of calls of Run
};

std::atomic<Pool*> pool{nullptr};
// A forked child has none of the pool's threads, and the pool's locks may be held forever. The
// child abandons the pool.
void ForgetPool() { pool.store(nullptr, std::memory_order_relaxed); }

// Never destroyed, because its threads may sleep in it during process exit. nullptr if there is no
// memory for it.
Pool* GetPool() {
  static const int registered = pthread_atfork(nullptr, nullptr, ForgetPool);
  static_cast<void>(registered);
  Pool* found = pool.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  auto* made = new (std::nothrow) Pool;
  if (pool.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
  delete made;
  return found;
}

}  // namespace

int GetNumThreads() {
  int count = num_threads.load(std::memory_order_relaxed);
  if (count > 0) return count;
  int unknown = 0;
  count = AvailableProcessors();
  return num_threads.compare_exchange_strong(unknown, count) ? count : unknown;
}

absl::Status SetNumThreads(int64_t count) {
  if (count < 1 || count > kMostThreads) {
    return absl::InvalidArgumentError(absl::StrCat("The number of threads must be from 1 to ",
                                                   kMostThreads, ", not ", count, "."));
  }
  num_threads.store(static_cast<int>(count), std::memory_order_relaxed);
  return absl::OkStatus();
}

void ParallelFor(int64_t parts, absl::FunctionRef<void(int64_t)> body) {
  Work work(parts, body);
  const int64_t threads = std::min<int64_t>(GetNumThreads(), parts);
  Pool* const pool = threads > 1 && !in_body ? GetPool() : nullptr;
  if (pool != nullptr && pool->Run(work, static_cast<int>(threads) - 1)) return;
  for (int64_t part = 0; part < parts; ++part) body(part);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
