// Divides large work among threads, and looks now and then whether it should stop.
//
//   const LargeWork work(bytes);
//   if (work.most_parts() == 1) …                           // small: at once, and nothing is asked
//   bool done = work.Run(parts, [&](int64_t part) { … });   // parts: least_parts() to most_parts()
//   if (!done) return LargeWork::Stopped();
//
// By core/parallel.h and core/interruption.h. Plain data; any thread.

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
  // Work as long as a copy of `bytes`.
  explicit LargeWork(int64_t bytes) {
    if (bytes >= 2 * kLeastBytes) Divide(bytes);
  }

  // 1 where neither threads nor questions are worth it.
  int64_t most_parts() const { return most_; }
  // What keeps all threads at work. (More let others do the share of a thread that is held up.)
  int64_t least_parts() const { return least_; }

  // Calls body(0) … body(parts - 1), on any threads, as ParallelFor does; fewer parts than least
  // are done as well. False when it was stopped before the last of them.
  [[nodiscard]] bool Run(int64_t parts, absl::FunctionRef<void(int64_t)> body) const;

  // Cancelled: what a copy says that was stopped.
  static absl::Status Stopped();

 private:
  // What a part has at least: less is copied in the time that it takes to wake a thread.
  static constexpr int64_t kLeastBytes = 1 << 20;

  void Divide(int64_t bytes);

  int64_t threads_ = 1;
  int64_t most_ = 1;
  int64_t least_ = 1;  // a part for each thread, from question to question
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_LARGE_WORK_H_
