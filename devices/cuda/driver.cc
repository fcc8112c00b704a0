#include "dovetail/devices/cuda/driver.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

CudaDriver& CudaDriver::Get() {
  static CudaDriver* const driver = new CudaDriver;
  return *driver;
}

std::vector<SymbolSlot> CudaDriver::Slots(CudaSymbols& symbols) const {
  return {
#define DOVETAIL_CUDA_SYMBOL(name, need, parameters) \
  {#name, reinterpret_cast<void**>(&symbols.name), Need::need},
#include "dovetail/devices/cuda/symbols.inc"
#undef DOVETAIL_CUDA_SYMBOL
  };
}

// The driver's library is the runtime: there is one version.
void CudaDriver::GetVersions(int* version, int* driver_version) const {
  if (Call(&CudaSymbols::cuDriverGetVersion, version) != kCodeSuccess) *version = 0;
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
  if (result == kCodeSuccess) result = Call(&CudaSymbols::cuDeviceGetCount, device_count);
  if (result == kCodeSuccess) contexts_.SetCount(*device_count);
  return result;
}

void CudaDriver::GetErrorTexts(Result result, const char** name, const char** text) const {
  symbols().cuGetErrorName(result, name);
  symbols().cuGetErrorString(result, text);
}

Result CudaDriver::GetContext(int device, CUcontext* context) {
  return contexts_.Get(device, context, [&](CUcontext* made) {
    CUdevice handle;
    const Result result = Call(&CudaSymbols::cuDeviceGet, &handle, device);
    return result != kCodeSuccess ? result
                                  : Call(&CudaSymbols::cuDevicePrimaryCtxRetain, made, handle);
  });
}

Result CudaDriver::HasContext(int device, bool* has) const {
  CUdevice handle;
  Result result = Call(&CudaSymbols::cuDeviceGet, &handle, device);
  if (result != kCodeSuccess) return result;
  unsigned flags = 0;
  int active = 0;
  result = Call(&CudaSymbols::cuDevicePrimaryCtxGetState, handle, &flags, &active);
  if (result == kCodeSuccess) *has = active != 0;
  return result;
}

Result CudaDriver::CurrentDevice(int* device) const {
  CUdevice current;
  const Result result = Call(&CudaSymbols::cuCtxGetDevice, &current);
  if (result == kCodeSuccess) *device = current;
  return result;
}

Result CudaDriver::DeviceOf(CUcontext context, int* device) const {
  if (const int found = contexts_.Find(context); found >= 0) {
    *device = found;
    return kCodeSuccess;
  }
  Result result = Call(&CudaSymbols::cuCtxPushCurrent_v2, context);
  if (result != kCodeSuccess) return result;
  result = CurrentDevice(device);
  CUcontext popped;
  Call(&CudaSymbols::cuCtxPopCurrent_v2, &popped);
  return result;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
