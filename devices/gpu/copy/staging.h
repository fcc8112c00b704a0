// Staging: blocks of pinned host memory for copies between pageable host memory and a device with
// different layouts.
//
//   absl::StatusOr<StagingBlock> block = staging.Take(nbytes);
//   ... launch work on the block, then
//   staging.GiveBack(*std::move(block), event);        // reused once `event` has happened
//
// Up to four blocks of kStagingBytes are kept; larger ones are freed once they are unused. Take may
// wait on the host for an earlier use. Any thread.

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

  // The caller has made a device current.
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
