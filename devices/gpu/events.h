// Events: those of the vendor, pooled per device, as core's Event.
//
//   Events events(runtime);
//   absl::StatusOr<Event> e = events.Record(stream);       // the host does not wait
//   absl::Status s = events.Wait(other, *e);
//
// An Event that goes takes its handle back to the pool and calls no vendor function. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_EVENTS_H_
#define DOVETAIL_DEVICES_GPU_EVENTS_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime.h"

namespace dovetail::inline DOVETAIL_ABI::gpu {

class Events {
 public:
  explicit Events(Runtime& runtime) : runtime_(runtime) {}

  // After the work that `stream` holds now.
  absl::StatusOr<Event> Record(const Stream& stream);
  // After all work that the device holds now. Unimplemented where the runtime has no such event.
  absl::StatusOr<Event> RecordContext(int device);
  absl::Status Wait(const Stream& stream, const Event& event);
  absl::StatusOr<bool> Query(const Event& event);
  absl::Status Synchronize(const Event& event);

  // Whether the event belongs to a graph that was captured: it can neither be asked nor waited for.
  static bool IsCaptured(const Event& event);

  // The vendor's handle; for tests and for other libraries.
  static NativeEvent Native(const Event& event);

 private:
  struct Pool {
    absl::Mutex mutex;
    std::vector<NativeEvent> free ABSL_GUARDED_BY(mutex);
  };
  struct State;

  absl::StatusOr<std::shared_ptr<State>> Take(int device);
  std::shared_ptr<Pool> PoolOf(int device);

  Runtime& runtime_;
  absl::Mutex mutex_;
  std::vector<std::shared_ptr<Pool>> pools_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dovetail::inline DOVETAIL_ABI::gpu

#endif  // DOVETAIL_DEVICES_GPU_EVENTS_H_
