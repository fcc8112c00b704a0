#include "dovetail/devices/rocm/library.h"

#include "absl/strings/str_cat.h"
#include "dovetail/devices/gpu/vendor/dynamic_library.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

constexpr const char* kLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};

// The numbers that ClassifyCode knows.
static_assert(hipSuccess == 0);
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

// The headers that this is compiled with number device attributes as every HIP from 5.2 on.
static_assert(hipDeviceAttributeMemoryPoolsSupported == 88);

// 50221153 is 5.2.
std::string VersionText(int version) {
  return absl::StrCat(version / 10000000, ".", version % 10000000 / 100000);
}

}  // namespace

HipLibrary& HipLibrary::Get() {
  static HipLibrary* const library = new HipLibrary;
  return *library;
}

bool HipLibrary::Load(std::string* reason) {
  std::call_once(once_, [this] { loaded_ = Open(&reason_); });
  if (!loaded_) *reason = reason_;
  return loaded_;
}

bool HipLibrary::Open(std::string* reason) {
  const SymbolSlot slots[] = {
#define DOVETAIL_HIP_SYMBOL(name, need) \
  {#name, reinterpret_cast<void**>(&symbols_.name), Need::need},
#define DOVETAIL_HIP_TYPED_SYMBOL(name, need, result, parameters) DOVETAIL_HIP_SYMBOL(name, need)
#include "dovetail/devices/rocm/symbols.inc"
#undef DOVETAIL_HIP_TYPED_SYMBOL
#undef DOVETAIL_HIP_SYMBOL
  };
  std::string problem;
  if (!OpenLibrary(kLibraries, slots, &problem)) {
    *reason = absl::StrCat("no ROCm runtime that can be used: ", problem);
    return false;
  }
  if (Checked(symbols_.hipRuntimeGetVersion(&version_)) != hipSuccess) version_ = 0;
  if (Checked(symbols_.hipDriverGetVersion(&driver_version_)) != hipSuccess) driver_version_ = 0;
  if (version_ != 0 && version_ < kOldestHip) {
    *reason =
        absl::StrCat("the ROCm runtime is too old: it is HIP ", VersionText(version_), ", and ",
                     VersionText(kOldestHip), " is the oldest that will do; install a newer ROCm");
    return false;
  }
  Result result = Checked(symbols_.hipGetDeviceCount(&device_count_));
  if (result == hipSuccess && device_count_ == 0) result = hipErrorNoDevice;
  if (result != hipSuccess) {
    *reason = absl::StrCat("the ROCm runtime (HIP ", VersionText(version_),
                           ") offers no device: ", Describe(result));
    return false;
  }
  pools_ = std::make_unique<std::atomic<hipMemPool_t>[]>(device_count_);
  return true;
}

int HipLibrary::Attribute(int device, hipDeviceAttribute_t attribute) const {
  int value = 0;
  return Checked(symbols_.hipDeviceGetAttribute(&value, attribute, device)) == hipSuccess ? value
                                                                                          : 0;
}

bool HipLibrary::HasPools(int device) const {
  return symbols_.hipMallocFromPoolAsync != nullptr && symbols_.hipFreeAsync != nullptr &&
         symbols_.hipMemPoolCreate != nullptr && symbols_.hipMemPoolTrimTo != nullptr &&
         symbols_.hipMemPoolSetAttribute != nullptr && symbols_.hipMemPoolGetAttribute != nullptr &&
         symbols_.hipMemPoolSetAccess != nullptr &&
         Attribute(device, hipDeviceAttributeMemoryPoolsSupported) != 0;
}

Result HipLibrary::Pool(int device, hipMemPool_t* pool) {
  if (device < 0 || device >= device_count_) return hipErrorInvalidDevice;
  std::atomic<hipMemPool_t>& kept = pools_[device];
  *pool = kept.load(std::memory_order_acquire);
  if (*pool != nullptr) return hipSuccess;
  if (!HasPools(device)) return hipErrorNotSupported;
  std::lock_guard<std::mutex> lock(mutex_);
  *pool = kept.load(std::memory_order_relaxed);
  if (*pool != nullptr) return hipSuccess;
  hipMemPoolProps properties = {};
  properties.allocType = hipMemAllocationTypePinned;
  properties.handleTypes = hipMemHandleTypeNone;
  properties.location.type = hipMemLocationTypeDevice;
  properties.location.id = device;
  const Result result = Checked(symbols_.hipMemPoolCreate(pool, &properties));
  if (result == hipSuccess) kept.store(*pool, std::memory_order_release);
  return result;
}

const char* HipLibrary::Describe(Result result) {
  const auto error = static_cast<hipError_t>(result);
  return texts_.Get(result, symbols_.hipGetErrorName(error), symbols_.hipGetErrorString(error));
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
