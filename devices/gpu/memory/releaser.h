// Releaser: how memory that a last reference let go comes back, in the order of the streams that
// used it. One per backend.
//
//   releaser.Push(std::move(uses));     // in a deleter: lock-free, no call to the vendor
//   releaser.Drain(stream);             // at the next allocation: never waits
//   releaser.Flush();                   // at a trim, or out of memory: waits for all
//
// Drain gives back at once what one lasting stream used, in the order of that stream, where the
// allocator can; else it records an event on each stream that used the memory and looks later
// whether they have happened. Uses that nobody knows (a consumer's, on streams that it did not tell
// or that may be gone) are covered by one event over the device's whole work, where the runtime has
// such an event, else by a synchronisation of the devices on a thread of its own.
//
// While a stream may be captured into a graph (Streams::MayCapture) Drain does nothing: those calls
// are what would break the capture. Once a context turned out to be captured by somebody unseen,
// unknown uses wait for Flush, too.
//
// Memory with a Hold among its uses comes back when that is over, which nobody waits for.
//
// What was lent goes back by its lender's function, on whichever thread drains, with no lock held.

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
  // Takes back memory that only `stream`, which lasts, has used. False: it is not able to, and
  // Reclaim is called when that work is done.
  virtual bool ReclaimInOrder(void* data, size_t nbytes, const Stream& stream) noexcept = 0;
  // Takes back memory that is unused once `events` have happened. False: as above.
  virtual bool ReclaimAfter(void* data, size_t nbytes, const Uses::EventList& events) noexcept = 0;
  // Takes back memory that nothing uses.
  virtual void Reclaim(void* data, size_t nbytes) noexcept = 0;
};

class Releaser {
 public:
  Releaser(Runtime& runtime, Events& events, Streams& streams)
      : runtime_(runtime), events_(events), streams_(streams) {}
  ~Releaser();
  Releaser(const Releaser&) = delete;
  Releaser& operator=(const Releaser&) = delete;

  // Takes the memory that the members of `uses` tell of. Lock-free; any thread.
  void Push(std::unique_ptr<Uses> uses) noexcept;
  void Drain();
  // The same before something is done on `stream`, of any device: where that is captured, this is
  // known from here on, and nothing is drained.
  void Drain(const Stream& stream);
  void Flush();

  // Forgets what other processes hold still, which is lost: for the end of the backend.
  void Abandon();

  // How many pieces of memory have not come back yet, of those that a Drain has seen; for tests.
  int waiting() const { return waiting_count_.load(std::memory_order_relaxed); }

 private:
  using List = std::vector<std::unique_ptr<Uses>>;
  enum class SyncState { kIdle, kRunning, kDone, kFailed };

  void TakePushed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Arrange(std::unique_ptr<Uses> uses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool RecordUses(Uses& uses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Await(std::unique_ptr<Uses> uses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CoverUnknown() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartSync() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CollectSync() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool SynchronizeDevices();
  // `thorough`: as of Hold::IsOver.
  void Poll(bool thorough) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  List TakeReady() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void GiveBack(List ready);

  Runtime& runtime_;
  Events& events_;
  Streams& streams_;
  std::atomic<Uses*> pushed_ = nullptr;
  std::atomic<int> waiting_count_ = 0;

  absl::Mutex mutex_;
  List awaited_ ABSL_GUARDED_BY(mutex_);  // until their events have happened
  List unknown_ ABSL_GUARDED_BY(mutex_);  // until something covers all of the device's work
  List syncing_ ABSL_GUARDED_BY(mutex_);  // covered by the synchronisation that runs
  List ready_ ABSL_GUARDED_BY(mutex_);
  bool contexts_are_captured_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread sync_thread_ ABSL_GUARDED_BY(mutex_);
  std::atomic<SyncState> sync_state_ = SyncState::kIdle;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_RELEASER_H_
