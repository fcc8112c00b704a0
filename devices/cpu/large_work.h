// Divides large work among threads, and looks now and then whether it should stop.
//
//   const LargeWork work(bytes);
//   if (work.most_parts() == 1) …                           // small: at once, and nothing is asked
//   bool done = work.Run(parts, [&](int64_t part) { … });   // parts: at most most_parts()
//   if (!done) return LargeWork::Stopped();
//
// By core/parallel.h and core/interruption.h. Plain data; any thread.

#ifndef DOVETAIL_DEVICES_CPU_LARGE_WORK_H_
#define DOVETAIL_DEVICES_CPU_LARGE_WORK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

class LargeWork {
 public:
  // Work as long as a copy of `bytes`.
  explicit LargeWork(int64_t bytes) {
    if (bytes >= 2 * kLeastBytes) Divide(bytes);
  }

  // 1 where neither threads nor questions are worth it.
  int64_t most_parts() const { return most_; }

  // Calls body(0) … body(parts - 1), on any threads, as ParallelFor does. False when it was stopped
  // before the last of them.
  [[nodiscard]] bool Run(int64_t parts, absl::FunctionRef<void(int64_t)> body) const;

  // Cancelled: what a copy says that was stopped.
  static absl::Status Stopped();

 private:
  // What a part has at least: less is copied in the time that it takes to wake a thread.
  static constexpr int64_t kLeastBytes = 1 << 20;

  void Divide(int64_t bytes);

  int64_t most_ = 1;
  int64_t between_questions_ = 0;  // parts; 0: nobody is asked
};

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_LARGE_WORK_H_
