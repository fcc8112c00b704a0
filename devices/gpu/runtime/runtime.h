// Runtime: a vendor's RuntimeApi with the checks that every call needs: the driver is loaded, the
// process was not forked since, and the device exists. Converts errors to absl::Status.
//
//   Runtime runtime(api);
//   DeviceGuard guard(runtime, 0);
//   if (!guard.ok()) return guard.status();
//   return runtime.Check(runtime.api().event_record(runtime.api().self, event, stream), "record");
//
// Any thread. Opens the driver at the first call of Ready or DeviceCount. If there is none, each
// later call asks RuntimeApi::load again.

#ifndef DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_H_
#define DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_H_

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/runtime/vendor_traits.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class Runtime {
 public:
  explicit Runtime(const RuntimeApi& api) : api_(api) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const RuntimeApi& api() const { return api_; }
  const VendorTraits& vendor() const { return *api_.vendor; }

  // Unavailable, with the reason, if there is no driver or no device. FailedPrecondition in a child
  // that was forked after the driver was loaded: the driver does not work there.
  absl::Status Ready();
  absl::StatusOr<int> DeviceCount();
  // DeviceBackend::LibraryFiles.
  std::vector<std::string> LibraryFiles();

  // Whether this process was forked from the one that loaded the driver.
  bool IsForkedChild() const;

  // NotFound if there is no device of that type and index. Pinned and managed memory count as
  // memory of device 0.
  absl::Status CheckDevice(Device device);

  // Ready must have succeeded, and the device must exist.
  const DeviceInfo& Info(int device) const { return infos_[device]; }

  // `result` as a status. The message says what failed (`what`), with the vendor's name and text.
  absl::Status Check(Result result, std::string_view what) const;
  ResultClass Classify(Result result) const { return api_.classify(api_.self, result); }

  // The vendor's handle of a stream.
  NativeStream Native(const Stream& stream) const {
    return stream.native() == NativeStream{0} ? api_.legacy_stream : stream.native();
  }
  // This vendor's device `index`.
  Device DeviceAt(int index) const { return {vendor().device, index}; }
  // The device that pinned memory of device `index` is on.
  Device PinnedAt(int index) const {
    return {vendor().pinned, vendor().pinned == vendor().device ? index : 0};
  }

  // Whether work of this process may be pending on the device: Dovetail used it, or the runtime
  // says that another library did.
  bool IsInUse(int device) const { return IsActive(device) || AskWhetherInUse(device) == 1; }
  // Whether no work of this process can be pending on the device. False if the runtime can't tell.
  // A call that needs the device would make a context on it, which takes hundreds of MB.
  bool IsUntouched(int device) const { return !IsActive(device) && AskWhetherInUse(device) == 0; }
  // Whether `stream` is the default stream of such a device, as is that of pinned memory in a
  // process that works on another device. (Other streams have work in a context of their own.)
  bool IsUntouched(const Stream& stream) const {
    return stream.native() == NativeStream{0} && IsUntouched(StreamDevice(stream.device()).index);
  }
  void MarkActive(int device) { active_[device].store(true, std::memory_order_relaxed); }

  // The device with which to allocate or free pinned memory, which is no device's own: one that has
  // a context already, so that none is made. In order: the device that is current on this thread, a
  // device that Dovetail used, one that another library used, `otherwise`.
  int HostMemoryDevice(int otherwise) const;

 private:
  absl::Status Load();
  absl::Status DescribeDevices();
  // Whether Dovetail used the device in this process.
  bool IsActive(int device) const {
    return Exists(device) && active_[device].load(std::memory_order_relaxed);
  }
  bool Exists(int device) const {
    return is_loaded_.load(std::memory_order_acquire) &&
           static_cast<size_t>(device) < active_.size();
  }
  // 0 or 1; -1 if the runtime can't tell.
  int AskWhetherInUse(int device) const;

  const RuntimeApi api_;

  absl::Mutex mutex_;  // held while the driver is loaded
  // Why there is no driver, as text and as a status, so that repeating it allocates nothing.
  std::string reason_ ABSL_GUARDED_BY(mutex_);
  absl::Status missing_ ABSL_GUARDED_BY(mutex_);

  // Written once, before is_loaded_.
  absl::Status loaded_;
  std::vector<DeviceInfo> infos_;
  std::vector<std::atomic<bool>> active_;
  int forks_before_ = 0;

  std::atomic<bool> is_loaded_ = false;
};

// Checks a device and makes it current on this thread for a scope.
class [[nodiscard]] DeviceGuard {
 public:
  DeviceGuard(Runtime& runtime, int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  Runtime& runtime_;
  void* previous_ = nullptr;
  absl::Status status_;
};

// For a scope, permits calls on this thread that an open capture would forbid. Does nothing on
// runtimes without exchange_capture_mode.
class [[nodiscard]] RelaxedCaptureMode {
 public:
  explicit RelaxedCaptureMode(const Runtime& runtime) : api_(runtime.api()) { Exchange(); }
  ~RelaxedCaptureMode() { Exchange(); }
  RelaxedCaptureMode(const RelaxedCaptureMode&) = delete;
  RelaxedCaptureMode& operator=(const RelaxedCaptureMode&) = delete;

 private:
  void Exchange() {
    if (api_.exchange_capture_mode != nullptr) api_.exchange_capture_mode(api_.self, &mode_);
  }

  const RuntimeApi& api_;
  CaptureMode mode_ = CaptureMode::kRelaxed;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_H_
