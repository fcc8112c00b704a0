#include "dovetail/devices/cuda/driver.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// ClassifyCode relies on these numbers.
static_assert(CUDA_SUCCESS == int{kCodeSuccess});
static_assert(CUDA_ERROR_INVALID_VALUE == int{kCodeInvalidValue});
static_assert(CUDA_ERROR_OUT_OF_MEMORY == int{kCodeOutOfMemory});
static_assert(CUDA_ERROR_DEINITIALIZED == int{kCodeDeinitialized});
static_assert(CUDA_ERROR_NO_DEVICE == int{kCodeNoDevice});
static_assert(CUDA_ERROR_INVALID_DEVICE == int{kCodeInvalidDevice});
static_assert(CUDA_ERROR_INVALID_CONTEXT == int{kCodeInvalidContext});
static_assert(CUDA_ERROR_INVALID_HANDLE == int{kCodeInvalidHandle});
static_assert(CUDA_ERROR_NOT_READY == int{kCodeNotReady});
static_assert(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED == int{kCodePeerAlreadyEnabled});
static_assert(CUDA_ERROR_CONTEXT_IS_DESTROYED == int{kCodeContextIsDestroyed});
static_assert(CUDA_ERROR_NOT_SUPPORTED == int{kCodeNotSupported});
static_assert(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED == int{kCodeFirstOfCapture});
static_assert(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD == int{kCodeLastOfCapture});

}  // namespace

CudaDriver& CudaDriver::Get() {
  static CudaDriver* const driver = new CudaDriver;
  return *driver;
}

std::vector<SymbolSlot> CudaDriver::Slots(CudaSymbols& symbols) const {
  return {
#define DOVETAIL_CUDA_SYMBOL(name, need) \
  {#name, reinterpret_cast<void**>(&symbols.name), Need::need},
#include "dovetail/devices/cuda/symbols.inc"
#undef DOVETAIL_CUDA_SYMBOL
  };
}

// The driver's library is the runtime: there is one version.
void CudaDriver::GetVersions(int* version, int* driver_version) const {
  if (Call(&CudaSymbols::cuDriverGetVersion, version) != CUDA_SUCCESS) *version = 0;
  *driver_version = *version;
}

// 12040 is 12.4.
std::string CudaDriver::VersionText(int version) const {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

std::string CudaDriver::WhyTooOld(int version) const {
  if (version >= kOldestCudaDriver) return "";
  return absl::StrCat("it is for CUDA ", VersionText(version), ", and ",
                      VersionText(kOldestCudaDriver),
                      " is the oldest that will do; install a newer driver");
}

Result CudaDriver::Start(int* device_count) {
  Result result = Call(&CudaSymbols::cuInit, 0u);
  if (result == CUDA_SUCCESS) result = Call(&CudaSymbols::cuDeviceGetCount, device_count);
  if (result == CUDA_SUCCESS) contexts_.SetCount(*device_count);
  return result;
}

void CudaDriver::GetErrorTexts(Result result, const char** name, const char** text) const {
  symbols().cuGetErrorName(static_cast<CUresult>(result), name);
  symbols().cuGetErrorString(static_cast<CUresult>(result), text);
}

Result CudaDriver::GetContext(int device, CUcontext* context) {
  return contexts_.Get(device, context, [&](CUcontext* made) {
    CUdevice handle;
    const Result result = Call(&CudaSymbols::cuDeviceGet, &handle, device);
    return result != CUDA_SUCCESS ? result
                                  : Call(&CudaSymbols::cuDevicePrimaryCtxRetain, made, handle);
  });
}

Result CudaDriver::CurrentDevice(int* device) const {
  CUdevice current;
  const Result result = Call(&CudaSymbols::cuCtxGetDevice, &current);
  if (result == CUDA_SUCCESS) *device = current;
  return result;
}

Result CudaDriver::DeviceOf(CUcontext context, int* device) const {
  if (const int found = contexts_.Find(context); found >= 0) {
    *device = found;
    return CUDA_SUCCESS;
  }
  Result result = Call(&CudaSymbols::cuCtxPushCurrent_v2, context);
  if (result != CUDA_SUCCESS) return result;
  result = CurrentDevice(device);
  CUcontext popped;
  Call(&CudaSymbols::cuCtxPopCurrent_v2, &popped);
  return result;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
