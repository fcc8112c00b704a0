// PerDevice: one handle of the vendor's for each device, made at its first use and kept as long as
// the process: memory pools, contexts.
//
//   PerDevice<CUmemoryPool> pools;
//   pools.SetCount(device_count);                         // once, before the first Get
//   Result r = pools.Get(device, &pool, [&](CUmemoryPool* made) { return Make(device, made); });
//
// Get of a handle that was made before takes no lock. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_PER_DEVICE_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_PER_DEVICE_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// `Handle` is a pointer type; nullptr means that there is none yet.
template <typename Handle>
class PerDevice {
 public:
  void SetCount(int count) {
    count_ = count;
    handles_ = std::make_unique<std::atomic<Handle>[]>(count);
  }

  // Calls make(handle) if the device has no handle yet, under a lock; a failure is not remembered.
  // kCodeInvalidDevice where there is no such device.
  template <typename Make>
  Result Get(int device, Handle* handle, Make make) {
    if (device < 0 || device >= count_) return kCodeInvalidDevice;
    std::atomic<Handle>& kept = handles_[device];
    *handle = kept.load(std::memory_order_acquire);
    if (*handle != nullptr) return kCodeSuccess;
    std::lock_guard<std::mutex> lock(mutex_);
    *handle = kept.load(std::memory_order_relaxed);
    if (*handle != nullptr) return kCodeSuccess;
    const Result result = make(handle);
    if (result == kCodeSuccess) kept.store(*handle, std::memory_order_release);
    return result;
  }

  // The device whose handle this is, or -1.
  int Find(Handle handle) const {
    for (int i = 0; i < count_; ++i) {
      if (handles_[i].load(std::memory_order_acquire) == handle) return i;
    }
    return -1;
  }

 private:
  int count_ = 0;
  std::unique_ptr<std::atomic<Handle>[]> handles_;
  std::mutex mutex_;  // held while a handle is made
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_PER_DEVICE_H_
