// Events: the vendor's events as core's Event, from a pool per device.
//
//   Events events(runtime);
//   absl::StatusOr<Event> e = events.Record(stream);       // the host does not wait
//   absl::Status s = events.Wait(other, *e);
//
// Destroying an Event puts its handle back into the pool and calls no vendor function. Any thread.
//
// There are two more kinds of Event. A borrowed one uses another library's handle. A Hold is an
// Event that no stream waits for; it keeps memory from being reused (memory/shared_blocks.h).

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

// Keeps memory from being returned to its allocator or lender for a reason other than pending work.
class Hold {
 public:
  virtual ~Hold() = default;
  // Whether the memory may be returned. Called repeatedly, by one thread at a time, once this
  // process no longer uses the memory, until it returns true. Must not block. `thorough`: an
  // expensive check is worth its time, for example because memory ran out.
  virtual bool IsOver(bool thorough) noexcept = 0;
  // For a SharedBlocks::Block, the start of the allocation that other processes may have open; else
  // nullptr.
  virtual const void* shared_base() const noexcept { return nullptr; }
};

class Events {
 public:
  explicit Events(Runtime& runtime) : runtime_(runtime) {}

  // An event after the current work of `stream`.
  absl::StatusOr<Event> Record(const Stream& stream);
  // An event after all current work of the device. Unimplemented if the runtime has no such event.
  absl::StatusOr<Event> RecordContext(int device);
  // Lets the stream wait. For the default stream of a device that the process has not used, the
  // host waits instead: no context is made there for the sake of pinned memory.
  absl::Status Wait(const Stream& stream, const Event& event);
  absl::StatusOr<bool> Query(const Event& event);
  absl::Status Synchronize(const Event& event);

  // Whether the event was recorded in a capture. Such an event can't be queried, nor can the host
  // wait for it.
  static bool IsCaptured(const Event& event);

  // An event that stands for a Hold among the uses of memory. Waiting for it does nothing, and
  // Query is always false: only the Releaser looks at the Hold.
  static Event OfHold(Device device, std::shared_ptr<Hold> hold);
  // nullptr for other events.
  static Hold* HoldOf(const Event& event);
  // Borrows another library's handle, which must outlive the Event.
  static Event Borrow(Device device, NativeEvent handle);

  // The vendor's handle, for tests and other libraries.
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
