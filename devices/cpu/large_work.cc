#include "dovetail/devices/cpu/large_work.h"

#include <algorithm>

#include "dovetail/core/interruption.h"
#include "dovetail/core/parallel.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// So that a thread that is held up leaves its share to the others.
constexpr int64_t kPartsPerThread = 4;
// Some milliseconds: what someone who wants to stop a copy waits for.
constexpr int64_t kBytesBetweenQuestions = 32 << 20;

}  // namespace

void LargeWork::Divide(int64_t bytes) {
  threads_ = GetNumThreads();
  const bool asks = bytes >= 2 * kBytesBetweenQuestions && ScopedInterruption::IsPossible();
  if (threads_ == 1 && !asks) return;
  const int64_t spans = asks ? bytes / kBytesBetweenQuestions : 1;
  const int64_t at_once = threads_ == 1 ? 1 : threads_ * kPartsPerThread;
  most_ = std::min(bytes / kLeastBytes, spans * at_once);
  least_ = std::min(most_, spans * threads_);
}

bool LargeWork::Run(int64_t parts, absl::FunctionRef<void(int64_t)> body) const {
  const int64_t step = (parts + least_ - 1) / least_ * threads_;
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
