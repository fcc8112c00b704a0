#include "dovetail/devices/oneapi/queues.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/oneapi/submission.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

Result WaitByPolling(const SyclLibrary& sycl, SyclEventHandle* event) {
  constexpr int kYields = 100;  // some tens of microseconds
  constexpr absl::Duration kLongest = absl::Microseconds(200);
  absl::Duration pause = absl::Microseconds(5);
  for (int i = 0;; ++i) {
    const int status = sycl->DPCTLEvent_GetCommandExecutionStatus(event);
    if (status == kSyclComplete) return kCodeSuccess;
    if (status == kSyclUnknown) return kCodeRefused;
    if (i < kYields) {
      std::this_thread::yield();
    } else {
      absl::SleepFor(pause);
      pause = std::min(pause * 2, kLongest);
    }
  }
}

}  // namespace

Result HeldQueues::DeviceOf(const SyclQueue* queue, int* device) const {
  SyclDevice* found = sycl_->DPCTLQueue_GetDevice(queue);
  if (found == nullptr) return kCodeInvalidHandle;
  const int index = sycl_.IndexOf(found);
  sycl_->DPCTLDevice_Delete(found);
  if (index < 0) return kCodeInvalidDevice;
  SyclContext* context = sycl_->DPCTLQueue_GetContext(queue);
  if (context == nullptr) return kCodeInvalidHandle;
  const bool is_default = sycl_->DPCTLContext_AreEq(context, sycl_.context(index));
  sycl_->DPCTLContext_Delete(context);
  if (!is_default) return kCodeInvalidContext;
  *device = index;
  return kCodeSuccess;
}

bool HeldQueues::HoldAgain(const SyclQueue* queue, SyclQueue** own) {
  for (Held& held : held_) {
    if (held.own != queue && !sycl_->DPCTLQueue_AreEq(held.own, queue)) continue;
    ++held.count;
    *own = held.own;
    return true;
  }
  return false;
}

Result HeldQueues::Hold(const SyclQueue* queue, SyclQueue** own) {
  for (int i = 0; i < sycl_.device_count(); ++i) {
    *own = sycl_.default_queue(i);
    if (sycl_->DPCTLQueue_AreEq(*own, queue)) return kCodeSuccess;
  }
  {
    absl::MutexLock lock(&mutex_);
    if (HoldAgain(queue, own)) return kCodeSuccess;
  }
  int device;
  if (const Result result = DeviceOf(queue, &device); result != kCodeSuccess) return result;
  SyclQueue* copy = sycl_->DPCTLQueue_Copy(queue);
  if (copy == nullptr) return kCodeInvalidHandle;
  absl::MutexLock lock(&mutex_);
  if (HoldAgain(copy, own)) {  // another thread may have held it meanwhile
    sycl_->DPCTLQueue_Delete(copy);
    return kCodeSuccess;
  }
  held_.push_back({copy, device, 1, nullptr});
  *own = copy;
  return kCodeSuccess;
}

void HeldQueues::Add(SyclQueue* own, int device) {
  absl::MutexLock lock(&mutex_);
  held_.push_back({own, device, 1, std::make_shared<QueueOrder>(/*of_a_device=*/false)});
}

std::shared_ptr<QueueOrder> HeldQueues::OrderOf(SyclQueue* queue) {
  absl::MutexLock lock(&mutex_);
  for (int i = 0; i < sycl_.device_count(); ++i) {
    if (queue != sycl_.default_queue(i)) continue;
    std::shared_ptr<QueueOrder>& order = defaults_[queue];
    if (order == nullptr) order = std::make_shared<QueueOrder>(/*of_a_device=*/true);
    return order;
  }
  for (const Held& held : held_) {
    if (held.own == queue) return held.order;
  }
  return nullptr;
}

void HeldQueues::Release(SyclQueue* own) {
  std::shared_ptr<QueueOrder> order;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = std::find_if(held_.begin(), held_.end(),
                                    [own](const Held& held) { return held.own == own; });
    if (found == held_.end() || --found->count > 0) return;
    order = std::move(found->order);
    held_.erase(found);
  }
  if (order != nullptr) {
    absl::MutexLock lock(&order->mutex);
    if (order->last != nullptr) sycl_->DPCTLEvent_Delete(order->last);
    order->last = nullptr;
    for (SyclEventHandle* event : order->foreign) sycl_->DPCTLEvent_Delete(event);
    order->foreign.clear();
  }
  sycl_->DPCTLQueue_Delete(own);
}

Result HeldQueues::Wait(const SyclEvent& event) {
  if (event.is_foreign) return WaitByPolling(sycl_, event.handle);
  sycl_->DPCTLEvent_Wait(event.handle);
  return kCodeSuccess;
}

Result HeldQueues::Wait(SyclQueue* queue) {
  const std::shared_ptr<QueueOrder> order = OrderOf(queue);
  if (order == nullptr || !order->is_default) {
    SyclEventHandle* event = Submission(*this, queue).Barrier();
    if (event == nullptr) return kCodeRefused;
    const Result result = WaitByPolling(sycl_, event);
    sycl_->DPCTLEvent_Delete(event);
    return result;
  }
  std::vector<SyclEventHandle*> foreign;  // copies: another thread may wait for them, too
  {
    absl::MutexLock lock(&order->mutex);
    for (SyclEventHandle* event : order->foreign) foreign.push_back(sycl_->DPCTLEvent_Copy(event));
  }
  Result result = kCodeSuccess;
  for (SyclEventHandle* event : foreign) {
    if (event == nullptr) return kCodeRefused;
    if (result == kCodeSuccess) result = WaitByPolling(sycl_, event);
    sycl_->DPCTLEvent_Delete(event);
  }
  if (result == kCodeSuccess) sycl_->DPCTLQueue_Wait(queue);
  return result;
}

Result HeldQueues::WaitForDevice(int device) {
  Result result = Wait(sycl_.default_queue(device));
  std::vector<SyclQueue*> copies;  // waiting takes long, and others may release queues meanwhile
  {
    absl::MutexLock lock(&mutex_);
    for (const Held& held : held_) {
      if (held.device == device) copies.push_back(sycl_->DPCTLQueue_Copy(held.own));
    }
  }
  for (SyclQueue* copy : copies) {
    if (copy == nullptr) return kCodeRefused;
    if (const Result waited = Wait(copy); waited != kCodeSuccess) result = waited;
    sycl_->DPCTLQueue_Delete(copy);
  }
  return result;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
