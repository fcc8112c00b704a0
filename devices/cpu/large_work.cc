#include "dovetail/devices/cpu/large_work.h"

#include <algorithm>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/internal/threads/parallel.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// More than one, so that other threads can take over the share of a thread that is delayed.
constexpr int64_t kPartsPerThread = 4;
// Copied in some milliseconds, which is how long a stop may take.
constexpr int64_t kBytesBetweenChecks = 32 << 20;

}  // namespace

void LargeWork::ChooseParts(int64_t bytes) {
  threads_ = GetNumThreads();
  const bool checks = bytes >= 2 * kBytesBetweenChecks && ScopedInterruption::IsPossible();
  if (threads_ == 1 && !checks) return;
  const int64_t spans = checks ? bytes / kBytesBetweenChecks : 1;
  const int64_t at_once = threads_ == 1 ? 1 : threads_ * kPartsPerThread;
  most_ = std::min(bytes / kLeastBytes, spans * at_once);
  least_ = std::min(most_, spans * threads_);
}

bool LargeWork::Run(int64_t parts, absl::FunctionRef<void(int64_t)> body) const {
  const int64_t step = internal_loop_nest::CeilDivide(parts, least_) * threads_;
  for (int64_t first = 0; first < parts; first += step) {
    if (first > 0 && ScopedInterruption::IsAsked()) return false;
    ParallelFor(std::min(step, parts - first), [&](int64_t part) { body(first + part); });
  }
  return true;
}

absl::Status LargeWork::Stopped() {
  return absl::CancelledError("The copy was interrupted; a part of it is done.");
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
