// Submission: the commands of one call on a queue, in the queue's order.
//
//   Submission to(held, queue);
//   to.Take(sycl->DPCTLQueue_MemcpyWithEvents(queue, dst, src, nbytes, to.after(), to.count()));
//   return Done(to.Finish());
//
// On a queue of Dovetail's, each command waits for the one before; other threads wait meanwhile. On
// another library's queue without order, barriers around the commands make them wait for everything
// before, and everything after wait for them.

#ifndef DOVETAIL_DEVICES_ONEAPI_SUBMISSION_H_
#define DOVETAIL_DEVICES_ONEAPI_SUBMISSION_H_

#include <cstddef>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/oneapi/library.h"
#include "dovetail/devices/oneapi/queues.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class [[nodiscard]] Submission {
 public:
  Submission(HeldQueues& held, SyclQueue* queue);
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  // The events that the next command has to wait for.
  SyclEventHandle* const* after() const { return &last_; }
  size_t count() const { return last_ != nullptr ? 1 : 0; }
  // For commands that take no events.
  void WaitBefore();

  // Takes ownership of the event that SYCL gave for a command; nullptr if SYCL refused the command.
  void Take(SyclEventHandle* event);
  bool ok() const { return ok_; }
  // Submits what has to follow. Whether SYCL took everything.
  bool Finish();

  // Later commands wait for `event`.
  void WaitFor(const SyclEvent& event);
  // A new event after all commands so far; nullptr if SYCL refuses.
  SyclEventHandle* Barrier();
  // Whether that event may wait for other libraries' work.
  bool IsForeign();

 private:
  void DropPastForeign();

  const SyclLibrary& sycl_;
  SyclQueue* const queue_;
  const std::shared_ptr<QueueOrder> order_;  // locked; null: another library's queue
  const bool is_unordered_;
  SyclEventHandle* last_ = nullptr;
  bool ok_ = true;
  bool has_commands_ = false;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_SUBMISSION_H_
