#include "dovetail/devices/gpu/copy/staging.h"

#include <algorithm>
#include <utility>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

Staging::~Staging() {
  if (runtime_.IsForkedChild()) return;
  absl::MutexLock lock(&mutex_);
  for (Kept& kept : kept_) {
    DeviceGuard guard(runtime_, runtime_.HostMemoryDevice(0));
    if (!guard.ok()) return;
    if (kept.used_until && !events_.Synchronize(*kept.used_until).ok()) continue;
    runtime_.api().free_host(runtime_.api().self, kept.block.data);
  }
}

absl::StatusOr<StagingBlock> Staging::Take(size_t nbytes) {
  std::optional<Kept> found;
  {
    absl::MutexLock lock(&mutex_);
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->block.nbytes < nbytes) continue;
      const bool is_free = !kept->used_until || events_.Query(*kept->used_until).value_or(false);
      if (!is_free && kept_.size() < kMostBlocks) continue;  // a new block rather than a wait
      found = std::move(*kept);
      kept_.erase(kept);
      break;
    }
  }
  if (found) {
    if (found->used_until) {
      if (absl::Status s = events_.Synchronize(*found->used_until); !s.ok()) return s;
    }
    return found->block;
  }
  const RuntimeApi& api = runtime_.api();
  const RelaxedCaptureMode relaxed(runtime_);
  StagingBlock block{nullptr, std::max(nbytes, kStagingBytes)};
  absl::Status s = runtime_.Check(api.malloc_host(api.self, block.nbytes, &block.data),
                                  "allocating pinned memory for a copy");
  if (!s.ok()) return s;
  return block;
}

void Staging::GiveBack(StagingBlock block, std::optional<Event> used_until) {
  std::vector<Kept> surplus;
  {
    absl::MutexLock lock(&mutex_);
    kept_.push_back({block, std::move(used_until)});
    // Frees unused blocks that are too large to keep, and the oldest beyond the limit.
    for (size_t i = 0; i < kept_.size();) {
      Kept& kept = kept_[i];
      const bool too_much = kept.block.nbytes > kStagingBytes || kept_.size() > kMostBlocks;
      if (too_much && (!kept.used_until || events_.Query(*kept.used_until).value_or(false))) {
        surplus.push_back(std::move(kept));
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  const RelaxedCaptureMode relaxed(runtime_);
  for (const Kept& kept : surplus) runtime_.api().free_host(runtime_.api().self, kept.block.data);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
