// Staging: blocks of pinned host memory that copies between ordinary host memory and a device pass
// through where their layouts differ.
//
//   absl::StatusOr<StagingBlock> block = staging.Take(nbytes);
//   ... give the block work on a stream, then
//   staging.GiveBack(*std::move(block), event);        // used again once `event` has happened
//
// A few blocks of kStagingBytes are kept; larger ones are freed when they are next looked at.
// Take may wait for an earlier use on the host. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_COPY_STAGING_H_
#define DOVETAIL_DEVICES_GPU_COPY_STAGING_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime/runtime.h"
#include "dovetail/devices/gpu/stream/events.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

inline constexpr size_t kStagingBytes = size_t{1} << 20;

struct StagingBlock {
  void* data;
  size_t nbytes;
};

class Staging {
 public:
  Staging(Runtime& runtime, Events& events) : runtime_(runtime), events_(events) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // A device is current.
  absl::StatusOr<StagingBlock> Take(size_t nbytes);
  void GiveBack(StagingBlock block, std::optional<Event> used_until);

 private:
  static constexpr size_t kMostBlocks = 4;
  struct Kept {
    StagingBlock block;
    std::optional<Event> used_until;
  };

  Runtime& runtime_;
  Events& events_;
  absl::Mutex mutex_;
  std::vector<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_STAGING_H_
