#include "dovetail/devices/rocm/library.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// ClassifyCode relies on these numbers.
static_assert(hipSuccess == int{kCodeSuccess});
static_assert(hipErrorInvalidValue == int{kCodeInvalidValue});
static_assert(hipErrorOutOfMemory == int{kCodeOutOfMemory});
static_assert(hipErrorDeinitialized == int{kCodeDeinitialized});
static_assert(hipErrorNoDevice == int{kCodeNoDevice});
static_assert(hipErrorInvalidDevice == int{kCodeInvalidDevice});
static_assert(hipErrorInvalidContext == int{kCodeInvalidContext});
static_assert(hipErrorInvalidHandle == int{kCodeInvalidHandle});
static_assert(hipErrorNotReady == int{kCodeNotReady});
static_assert(hipErrorPeerAccessAlreadyEnabled == int{kCodePeerAlreadyEnabled});
static_assert(hipErrorContextIsDestroyed == int{kCodeContextIsDestroyed});
static_assert(hipErrorNotSupported == int{kCodeNotSupported});
static_assert(hipErrorStreamCaptureUnsupported == int{kCodeFirstOfCapture});
static_assert(hipErrorStreamCaptureWrongThread == int{kCodeLastOfCapture});

// The headers of this build number device attributes as every HIP since 5.2 does.
static_assert(hipDeviceAttributeMemoryPoolsSupported == 88);

}  // namespace

HipLibrary& HipLibrary::Get() {
  static HipLibrary* const library = new HipLibrary;
  return *library;
}

std::vector<SymbolSlot> HipLibrary::Slots(HipSymbols& symbols) const {
  return {
#define DOVETAIL_HIP_SYMBOL(name, need) \
  {#name, reinterpret_cast<void**>(&symbols.name), Need::need},
#define DOVETAIL_HIP_TYPED_SYMBOL(name, need, result, parameters) DOVETAIL_HIP_SYMBOL(name, need)
#include "dovetail/devices/rocm/symbols.inc"
#undef DOVETAIL_HIP_TYPED_SYMBOL
#undef DOVETAIL_HIP_SYMBOL
  };
}

void HipLibrary::GetVersions(int* version, int* driver_version) const {
  if (Call(&HipSymbols::hipRuntimeGetVersion, version) != hipSuccess) *version = 0;
  if (Call(&HipSymbols::hipDriverGetVersion, driver_version) != hipSuccess) *driver_version = 0;
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
  *name = symbols().hipGetErrorName(static_cast<hipError_t>(result));
  *text = symbols().hipGetErrorString(static_cast<hipError_t>(result));
}

Result HipLibrary::CurrentDevice(int* device) const {
  return Call(&HipSymbols::hipGetDevice, device);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
