// Releaser: returns memory to its allocator or lender after the pending work on it. One per
// backend.
//
//   releaser.Push(std::move(uses));     // in a deleter: lock-free, no call to the vendor
//   releaser.Drain(stream);             // at the next allocation: never waits
//   releaser.Flush();                   // at a trim, or out of memory: waits for all work
//
// Drain treats memory by its uses:
//   one lasting stream        returned at once, in the order of that stream, if the allocator can
//   several streams           returned when an event on each stream has happened
//   unknown (a consumer that  returned after one event over all work of each device that the
//   named no stream)          process used, by any library; if the runtime has no such event, after
//                             a synchronisation of these devices on another thread
//   a Hold                    returned when the Hold is over; nothing waits for that
//
// While a stream may be in a capture (Streams::MayCapture), Drain does nothing, since its calls
// would break the capture. If it finds a stream of the memory in a capture, this memory and all
// that was pushed later wait for the end of the capture, in a Flush, too. Once a context was found
// in a capture that Dovetail was not told of, memory with unknown uses waits for Flush.
//
// Lent memory goes back by its lender's function, on the thread that drains, with no lock held.

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_RELEASER_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_RELEASER_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/uses.h"
#include "dovetail/devices/gpu/runtime/runtime.h"
#include "dovetail/devices/gpu/stream/events.h"
#include "dovetail/devices/gpu/stream/streams.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// An allocator whose memory comes back through a Releaser.
class ReleasedAllocator : public Allocator {
 public:
  // Takes back memory that only `stream`, a lasting stream, has used. False if the allocator can't,
  // as in a capture of the stream: Reclaim is then called when that work is done.
  virtual bool ReclaimInOrder(void* data, size_t nbytes, const Stream& stream) noexcept = 0;
  // Whether Reclaim may follow at once, although work of `stream`, the only one that has used the
  // memory, is pending: for an allocator that must not be called with a lock of the Releaser's.
  virtual bool MayReclaimInOrder(void* /*data*/, const Stream& /*stream*/) noexcept {
    return false;
  }
  // Takes back memory that may be reused once `events` have happened. False: as above.
  virtual bool ReclaimAfter(void* data, size_t nbytes, const Uses::EventList& events) noexcept = 0;
  // Takes back memory without pending work, or in order (above). No lock of the Releaser's is held.
  virtual void Reclaim(void* data, size_t nbytes) noexcept = 0;
};

class Releaser {
 public:
  Releaser(Runtime& runtime, Events& events, Streams& streams)
      : runtime_(runtime), events_(events), streams_(streams) {}
  ~Releaser();
  Releaser(const Releaser&) = delete;
  Releaser& operator=(const Releaser&) = delete;

  // Takes over the memory that `uses` describes. Lock-free; any thread.
  void Push(std::unique_ptr<Uses> uses) noexcept;
  void Drain();
  // Call before work on `stream` (of any device). If the stream is being captured, remembers that
  // and drains nothing.
  void Drain(const Stream& stream);
  void Flush();

  // Leaks the memory that a Flush could not return: other processes hold it, or the driver failed.
  // For the end of the backend, whose allocators go before the Releaser.
  void Abandon();

  // The number of blocks that a Drain has seen and that are not returned yet; for tests.
  int waiting() const { return waiting_count_.load(std::memory_order_relaxed); }

 private:
  using List = std::vector<std::unique_ptr<Uses>>;
  enum class SyncState { kIdle, kRunning, kDone, kFailed };

  bool MayCapture() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsCaptured(const Uses& uses);
  void TakePushed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Arrange(std::unique_ptr<Uses> uses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool RecordUses(Uses& uses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Await(std::unique_ptr<Uses> uses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CoverUnknown() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartSync() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CollectSync() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool SynchronizeDevices();
  // `thorough` is passed to Hold::IsOver.
  void Poll(bool thorough) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  List TakeReady() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void GiveBack(List ready);

  Runtime& runtime_;
  Events& events_;
  Streams& streams_;
  std::atomic<Uses*> pushed_ = nullptr;
  std::atomic<int> waiting_count_ = 0;

  absl::Mutex mutex_;
  List captured_ ABSL_GUARDED_BY(mutex_);  // wait for the end of a capture
  List awaited_ ABSL_GUARDED_BY(mutex_);   // wait for their events
  List unknown_ ABSL_GUARDED_BY(mutex_);   // wait for an event over the device
  List syncing_ ABSL_GUARDED_BY(mutex_);   // wait for the running synchronisation
  List ready_ ABSL_GUARDED_BY(mutex_);
  bool contexts_are_captured_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread sync_thread_ ABSL_GUARDED_BY(mutex_);
  std::atomic<SyncState> sync_state_ = SyncState::kIdle;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_RELEASER_H_
