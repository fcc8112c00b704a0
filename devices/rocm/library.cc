#include "dovetail/devices/rocm/library.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

HipLibrary& HipLibrary::Get() {
  static HipLibrary* const library = new HipLibrary;
  return *library;
}

std::vector<SymbolSlot> HipLibrary::Slots(HipSymbols& symbols) const {
  return {
#define DOVETAIL_HIP_SYMBOL(name, need, result, parameters) \
  {#name, reinterpret_cast<void**>(&symbols.name), Need::need},
#define DOVETAIL_HIP_NEW_SYMBOL DOVETAIL_HIP_SYMBOL
#include "dovetail/devices/rocm/symbols.inc"
#undef DOVETAIL_HIP_NEW_SYMBOL
#undef DOVETAIL_HIP_SYMBOL
  };
}

void HipLibrary::GetVersions(int* version, int* driver_version) const {
  if (Call(&HipSymbols::hipRuntimeGetVersion, version) != kCodeSuccess) *version = 0;
  if (Call(&HipSymbols::hipDriverGetVersion, driver_version) != kCodeSuccess) *driver_version = 0;
}

// 50221153 is 5.2.
std::string HipLibrary::VersionText(int version) const {
  return absl::StrCat(version / 10000000, ".", version % 10000000 / 100000);
}

// A version that is not known, 0, will do.
std::string HipLibrary::WhyTooOld(int version) const {
  if (version == 0 || version >= kOldestHip) return "";
  return absl::StrCat("it is HIP ", VersionText(version), ", and ", VersionText(kOldestHip),
                      " is the oldest that will do; install a newer ROCm");
}

Result HipLibrary::Start(int* device_count) {
  return Call(&HipSymbols::hipGetDeviceCount, device_count);
}

void HipLibrary::GetErrorTexts(Result result, const char** name, const char** text) const {
  *name = symbols().hipGetErrorName(result);
  *text = symbols().hipGetErrorString(result);
}

Result HipLibrary::CurrentDevice(int* device) const {
  return Call(&HipSymbols::hipGetDevice, device);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
