// HipLibrary: HIP's runtime library, opened at first use (the newest that is installed), and one
// memory pool for each device.
//
//   HipLibrary& hip = HipLibrary::Get();
//   std::string reason;
//   if (hip.Load(&reason)) hip.Call(&HipSymbols::hipDeviceSynchronize);
//
// HIP 5, 6 and 7 have different structures and enumerations under the same names. Code that depends
// on one asks for major(). Any thread.

#ifndef DOVETAIL_DEVICES_ROCM_LIBRARY_H_
#define DOVETAIL_DEVICES_ROCM_LIBRARY_H_

#include <string>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/vendor/vendor_library.h"
#include "dovetail/devices/rocm/hip_vendor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The oldest runtime that will do, as hipRuntimeGetVersion counts: 5.0.
inline constexpr int kOldestHip = 50000000;

class HipLibrary final : public VendorLibrary<HipVendor> {
 public:
  // The one of this process; opens nothing, never destroyed.
  static HipLibrary& Get();

  // The rest needs a successful Load.

  int major() const { return version() / 10000000; }
  Result CurrentDevice(int* device) const;

 private:
  HipLibrary() = default;

  std::vector<SymbolSlot> Slots(HipSymbols& symbols) const override;
  void GetVersions(int* version, int* driver_version) const override;
  std::string WhyTooOld(int version) const override;
  std::string VersionText(int version) const override;
  Result Start(int* device_count) override;
  void GetErrorTexts(Result result, const char** name, const char** text) const override;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ROCM_LIBRARY_H_
