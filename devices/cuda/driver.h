// CudaDriver: NVIDIA's driver library, opened at first use, and one primary context and one memory
// pool for each device.
//
//   CudaDriver& driver = CudaDriver::Get();
//   std::string reason;
//   if (driver.Load(&reason)) driver.Call(&CudaSymbols::cuCtxSynchronize);
//
// Every library of the process that uses CUDA's runtime (PyTorch, CuPy, JAX) uses the same primary
// context, so that they can exchange memory and streams. The context is retained once and never
// released, since a deleter may run while the process exits. Any thread.

#ifndef DOVETAIL_DEVICES_CUDA_DRIVER_H_
#define DOVETAIL_DEVICES_CUDA_DRIVER_H_

#include <string>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/devices/cuda/cuda_vendor.h"
#include "dovetail/devices/gpu/vendor/vendor_library.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The oldest driver that will do, as cuDriverGetVersion counts: CUDA 11.0.
inline constexpr int kOldestCudaDriver = 11000;

class CudaDriver final : public VendorLibrary<CudaVendor> {
 public:
  // The one of this process; opens nothing, never destroyed.
  static CudaDriver& Get();

  // The rest needs a successful Load.

  // The device's primary context.
  Result GetContext(int device, CUcontext* context);
  // Whether the device's primary context is active, whoever retained it. Makes none.
  Result HasContext(int device, bool* has) const;
  // The device of the current context.
  Result CurrentDevice(int* device) const;
  // The device of any context, also one of another library.
  Result DeviceOf(CUcontext context, int* device) const;

 private:
  CudaDriver() = default;

  std::vector<SymbolSlot> Slots(CudaSymbols& symbols) const override;
  void GetVersions(int* version, int* driver_version) const override;
  std::string WhyTooOld(int version) const override;
  std::string VersionText(int version) const override;
  Result Start(int* device_count) override;
  void GetErrorTexts(Result result, const char** name, const char** text) const override;

  PerDevice<CUcontext> contexts_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_DRIVER_H_
