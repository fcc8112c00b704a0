// Runs large work on several threads, and stops it on request.
//
//   const LargeWork work(bytes);
//   if (work.most_parts() == 1) …                           // small: run it at once
//   bool done = work.Run(parts, [&](int64_t part) { … });   // parts: least_parts() to most_parts()
//   if (!done) return LargeWork::Stopped();
//
// The threads are those of core/internal/threads/parallel.h; a stop is requested by interruption.h
// there. A plain value; any thread.

#ifndef DOVETAIL_DEVICES_CPU_LARGE_WORK_H_
#define DOVETAIL_DEVICES_CPU_LARGE_WORK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class LargeWork {
 public:
  // For work that takes as long as a copy of `bytes`.
  explicit LargeWork(int64_t bytes) {
    if (bytes >= 2 * kLeastBytes) ChooseParts(bytes);
  }

  // The most parts that are worth it; 1 if neither threads nor checks for a stop are.
  int64_t most_parts() const { return most_; }
  // The fewest parts that keep all threads busy. With more parts, other threads can take over the
  // share of a thread that is delayed.
  int64_t least_parts() const { return least_; }

  // Calls body(0) … body(parts - 1) on any threads, as ParallelFor does. `parts` may be less than
  // least_parts(). False if it was stopped before the last part.
  [[nodiscard]] bool Run(int64_t parts, absl::FunctionRef<void(int64_t)> body) const;

  // Cancelled: the status of a copy that was stopped.
  static absl::Status Stopped();

 private:
  // The least bytes of a part: fewer are copied in the time that it takes to wake a thread.
  static constexpr int64_t kLeastBytes = 1 << 20;

  void ChooseParts(int64_t bytes);

  int64_t threads_ = 1;
  int64_t most_ = 1;
  int64_t least_ = 1;  // a part for each thread between two checks for a stop
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_LARGE_WORK_H_
