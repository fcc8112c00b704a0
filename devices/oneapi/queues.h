// Queues: Dovetail's own and other libraries', how long they live, and waiting for them.
//
//   HeldQueues held(sycl);
//   Result r = held.Hold(queue, &own);           // the same `own` for the same queue
//
// A sycl::queue is a counted handle: a copy of it is the same queue and keeps it alive. So a queue
// that another library destroys lives as long as Dovetail has work on it. Any thread.

#ifndef DOVETAIL_DEVICES_ONEAPI_QUEUES_H_
#define DOVETAIL_DEVICES_ONEAPI_QUEUES_H_

#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/oneapi/library.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// SYCL's exceptions become nullptr in dpctl's interface, without a number.
inline constexpr Result kCodeRefused = 999;

// RuntimeApi's events are made first and recorded later; SYCL's are made by what is submitted.
struct SyclEvent {
  SyclEventHandle* handle = nullptr;  // nullptr: not recorded yet
  bool is_foreign = false;            // it may wait for other libraries' work
};

// The last command on one of Dovetail's queues. (SYCL's own order of commands is not enough: a
// command that waits for a host task reaches the device's queue later than those submitted after
// it.)
struct QueueOrder {
  explicit QueueOrder(bool of_a_device) : is_default(of_a_device) {}

  const bool is_default;  // of a device
  absl::Mutex mutex;
  SyclEventHandle* last ABSL_GUARDED_BY(mutex) = nullptr;
  // Other libraries' events that commands wait for and that had not happened when last asked.
  std::vector<SyclEventHandle*> foreign ABSL_GUARDED_BY(mutex);
};

// The queues that Dovetail keeps alive, each with a count.
class HeldQueues {
 public:
  explicit HeldQueues(const SyclLibrary& sycl) : sycl_(sycl) {}

  const SyclLibrary& sycl() const { return sycl_; }

  // Keeps `queue` alive until Release(*own). A device's default queue lives anyway.
  // kCodeInvalidDevice if it is of no root device, kCodeInvalidContext if its context is not the
  // device's default one.
  Result Hold(const SyclQueue* queue, SyclQueue** own) ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes over a new queue of Dovetail's, which counts as held once.
  void Add(SyclQueue* own, int device) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(SyclQueue* own) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits for an event, or for the work of a queue. kCodeRefused if it failed. Other libraries'
  // work is waited for by polling: SYCL's own wait may hold its scheduler's lock while a host task
  // is to run first. dpctl's host tasks need the GIL, and another thread that has the GIL may need
  // that lock. (SYCL's wait is better where it will do: on the CPU's device, the thread helps
  // meanwhile.)
  Result Wait(const SyclEvent& event);
  Result Wait(SyclQueue* queue);
  // Waits for the work of all held queues of a device.
  Result WaitForDevice(int device) ABSL_LOCKS_EXCLUDED(mutex_);

  // The order of work on a queue of Dovetail's; nullptr for other libraries'.
  std::shared_ptr<QueueOrder> OrderOf(SyclQueue* queue) ABSL_LOCKS_EXCLUDED(mutex_);

  // The number of the queue's device.
  Result DeviceOf(const SyclQueue* queue, int* device) const;

 private:
  // Counts a queue that is held already, and sets `*own`. False if it is none of those.
  bool HoldAgain(const SyclQueue* queue, SyclQueue** own) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Held {
    SyclQueue* own;
    int device;
    int count;
    std::shared_ptr<QueueOrder> order;  // null: another library's queue
  };

  const SyclLibrary& sycl_;
  absl::Mutex mutex_;
  std::vector<Held> held_ ABSL_GUARDED_BY(mutex_);  // a handful
  std::map<SyclQueue*, std::shared_ptr<QueueOrder>> defaults_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_QUEUES_H_
