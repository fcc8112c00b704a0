// Events: those of the vendor, pooled per device, as core's Event.
//
//   Events events(runtime);
//   absl::StatusOr<Event> e = events.Record(stream);       // the host does not wait
//   absl::Status s = events.Wait(other, *e);
//
// An Event that goes takes its handle back to the pool and calls no vendor function. Any thread.
//
// Two more kinds of Event: one over somebody else's handle, and one that no stream waits for: a
// Hold, which keeps memory from being reused (shared_blocks.h).

#ifndef DOVETAIL_DEVICES_GPU_STREAM_EVENTS_H_
#define DOVETAIL_DEVICES_GPU_STREAM_EVENTS_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime/runtime.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Keeps memory from its allocator, or its lender, for another reason than the work of streams.
class Hold {
 public:
  virtual ~Hold() = default;
  // Whether the memory may go. Asked when nothing here uses it any more, again and again until it
  // is true, by one thread at a time. Must not block. `thorough`: there is time to find out, if
  // only for lack of memory.
  virtual bool IsOver(bool thorough) noexcept = 0;
  // Of a SharedBlocks::Block the start of the allocation that other processes may have open;
  // nullptr of any other.
  virtual const void* shared_base() const noexcept { return nullptr; }
};

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

  // What memory is held for: to be noted among its uses. Waiting for it is waiting for nothing, and
  // it has not happened whenever it is asked: only the Releaser looks at the Hold.
  static Event OfHold(Device device, std::shared_ptr<Hold> hold);
  // Null for other events.
  static Hold* HoldOf(const Event& event);
  // Over somebody else's handle, who keeps it as long as the Event is used.
  static Event Borrow(Device device, NativeEvent handle);

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

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_STREAM_EVENTS_H_
