#include "dovetail/devices/oneapi/submission.h"

#include <utility>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// (Clang does not see that the destructor unlocks.)
Submission::Submission(HeldQueues& held, SyclQueue* queue) ABSL_NO_THREAD_SAFETY_ANALYSIS
    : sycl_(held.sycl()),
      queue_(queue),
      order_(held.OrderOf(queue)),
      is_unordered_(order_ == nullptr && !sycl_->DPCTLQueue_IsInOrder(queue)) {
  if (order_ != nullptr) {
    order_->mutex.Lock();
    last_ = std::exchange(order_->last, nullptr);
  } else if (is_unordered_) {
    Take(sycl_->DPCTLQueue_SubmitBarrier(queue));
    has_commands_ = false;
  }
}

Submission::~Submission() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (has_commands_ && is_unordered_) Finish();
  if (order_ != nullptr) {
    order_->last = last_;
    order_->mutex.Unlock();
  } else if (last_ != nullptr) {
    sycl_->DPCTLEvent_Delete(last_);
  }
}

void Submission::WaitBefore() {
  if (last_ != nullptr) {
    Take(sycl_->DPCTLQueue_SubmitBarrierForEvents(queue_, &last_, 1));
  }
}

void Submission::Take(SyclEventHandle* event) {
  has_commands_ = true;
  if (event == nullptr) {
    ok_ = false;
    return;
  }
  if (last_ != nullptr) sycl_->DPCTLEvent_Delete(last_);
  last_ = event;
}

bool Submission::Finish() {
  if (is_unordered_) Take(sycl_->DPCTLQueue_SubmitBarrier(queue_));
  has_commands_ = false;
  return ok_;
}

void Submission::WaitFor(const SyclEvent& event) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  SyclEventHandle* events[] = {event.handle, last_};
  Take(sycl_->DPCTLQueue_SubmitBarrierForEvents(queue_, events, last_ != nullptr ? 2 : 1));
  has_commands_ = false;  // the barrier is one for later commands of any queue
  if (!event.is_foreign || order_ == nullptr) return;
  DropPastForeign();
  if (SyclEventHandle* copy = sycl_->DPCTLEvent_Copy(event.handle)) order_->foreign.push_back(copy);
}

bool Submission::IsForeign() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (order_ == nullptr || !order_->is_default) return true;
  DropPastForeign();
  return !order_->foreign.empty();
}

void Submission::DropPastForeign() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  std::erase_if(order_->foreign, [this](SyclEventHandle* event) {
    if (sycl_->DPCTLEvent_GetCommandExecutionStatus(event) != kSyclComplete) return false;
    sycl_->DPCTLEvent_Delete(event);
    return true;
  });
}

SyclEventHandle* Submission::Barrier() {
  return last_ != nullptr ? sycl_->DPCTLQueue_SubmitBarrierForEvents(queue_, &last_, 1)
                          : sycl_->DPCTLQueue_SubmitBarrier(queue_);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
