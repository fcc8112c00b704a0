// Waiting for a number in shared memory to change, without a lock, and for how long. Any thread,
// any process.

#ifndef DOVETAIL_CORE_IPC_FUTEX_H_
#define DOVETAIL_CORE_IPC_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

#include "absl/time/time.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// For deadlines: a clock that nobody sets.
inline absl::Duration SteadyNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// Waits until WakeFutex is called, for `timeout` at most. Returns at once if it is no longer
// `seen`.
inline void WaitForFutex(std::atomic<uint32_t>& number, uint32_t seen, absl::Duration timeout) {
  const timespec time = absl::ToTimespec(timeout);
  syscall(SYS_futex, &number, FUTEX_WAIT, seen, &time, nullptr, 0);
}

inline void WakeFutex(std::atomic<uint32_t>& number, int count) {
  syscall(SYS_futex, &number, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_FUTEX_H_
