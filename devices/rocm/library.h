// HipLibrary: HIP's runtime library, opened at first use (the newest that is there), and what this
// process keeps of it: a memory pool for each device.
//
//   HipLibrary& hip = HipLibrary::Get();
//   std::string reason;
//   if (hip.Load(&reason)) hip.Checked(hip.symbols().hipDeviceSynchronize());
//
// Structures and enumerations changed between HIP 5, 6 and 7 under the same names; what depends on
// that asks version(). Never destroyed. Any thread.

#ifndef DOVETAIL_DEVICES_ROCM_LIBRARY_H_
#define DOVETAIL_DEVICES_ROCM_LIBRARY_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "hip/hip_runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The library's functions; those that it lacks are nullptr.
struct HipSymbols {
#define DOVETAIL_HIP_SYMBOL(name, need) decltype(&::name) name;
#define DOVETAIL_HIP_TYPED_SYMBOL(name, need, result, parameters) result(*name) parameters;
#include "dovetail/devices/rocm/symbols.inc"
#undef DOVETAIL_HIP_TYPED_SYMBOL
#undef DOVETAIL_HIP_SYMBOL
};

// The oldest runtime that will do, as hipRuntimeGetVersion counts: 5.0.
inline constexpr int kOldestHip = 50000000;

class HipLibrary {
 public:
  // The one of this process; opens nothing.
  static HipLibrary& Get();

  // Opens the library at the first call; later ones repeat its outcome. False, with a reason for
  // people, when there is no library or no device.
  bool Load(std::string* reason);

  // The rest is for after a successful Load.

  const HipSymbols& symbols() const { return symbols_; }
  int device_count() const { return device_count_; }
  int version() const { return version_; }
  int driver_version() const { return driver_version_; }
  int major() const { return version_ / 10000000; }

  // `result` as it is. HIP also keeps the last error for whoever asks next, in this thread; ours
  // are not for others to find.
  Result Checked(hipError_t result) const {
    if (result != hipSuccess) static_cast<void>(symbols_.hipGetLastError());
    return result;
  }

  bool HasPools(int device) const;
  // The device's pool, made at the first call.
  Result Pool(int device, hipMemPool_t* pool);
  // 0 where the device has no such attribute.
  int Attribute(int device, hipDeviceAttribute_t attribute) const;
  const char* Describe(Result result);

 private:
  HipLibrary() = default;
  bool Open(std::string* reason);

  std::once_flag once_;
  bool loaded_ = false;
  std::string reason_;
  HipSymbols symbols_ = {};
  int version_ = 0;
  int driver_version_ = 0;
  int device_count_ = 0;
  std::mutex mutex_;  // of making pools
  std::unique_ptr<std::atomic<hipMemPool_t>[]> pools_;
  ResultTexts texts_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ROCM_LIBRARY_H_
