// CudaDriver: NVIDIA's driver library, opened at first use, and what this process keeps of it: one
// primary context for each device, and one memory pool.
//
//   CudaDriver& driver = CudaDriver::Get();
//   std::string reason;
//   if (driver.Load(&reason)) driver.symbols().cuCtxSynchronize();
//
// A primary context is shared with every library of the process that uses CUDA's runtime (PyTorch,
// CuPy, JAX), so that memory and streams go from one to another. It is retained once and never
// released: a deleter may run while the process exits. Any thread.

#ifndef DOVETAIL_DEVICES_CUDA_DRIVER_H_
#define DOVETAIL_DEVICES_CUDA_DRIVER_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "cuda.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The driver's functions; those that it lacks are nullptr.
struct CudaSymbols {
#define DOVETAIL_CUDA_SYMBOL(name, need) decltype(&::name) name;
#include "dovetail/devices/cuda/symbols.inc"
#undef DOVETAIL_CUDA_SYMBOL
};

// The oldest driver that will do, as cuDriverGetVersion counts: CUDA 11.0.
inline constexpr int kOldestCudaDriver = 11000;

class CudaDriver {
 public:
  // The one of this process; opens nothing, never destroyed.
  static CudaDriver& Get();

  // Opens the driver at the first call; later ones repeat its outcome. False, with a reason for
  // people, when there is no driver or no device.
  bool Load(std::string* reason);

  // The rest is for after a successful Load.

  const CudaSymbols& symbols() const { return symbols_; }
  int device_count() const { return device_count_; }
  int version() const { return version_; }
  // Whether the driver and the device have stream-ordered pools.
  bool HasPools(int device) const;

  // The device's primary context.
  CUresult Context(int device, CUcontext* context);
  // The device's pool, made at the first call.
  CUresult Pool(int device, CUmemoryPool* pool);
  // The device whose context is current.
  CUresult CurrentDevice(int* device) const;
  // The device of a context, whoever made it.
  CUresult DeviceOf(CUcontext context, int* device);

  int Attribute(int device, CUdevice_attribute attribute) const;
  const char* Describe(Result result);

 private:
  struct Device {
    std::atomic<CUcontext> context{nullptr};
    std::atomic<CUmemoryPool> pool{nullptr};
  };

  CudaDriver() = default;
  bool Open(std::string* reason);
  CUresult MakePool(int device, CUmemoryPool* pool);

  std::once_flag once_;
  bool loaded_ = false;
  std::string reason_;
  CudaSymbols symbols_ = {};
  int version_ = 0;
  int device_count_ = 0;
  std::mutex mutex_;  // of making contexts and pools
  std::unique_ptr<Device[]> devices_;
  ResultTexts texts_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_DRIVER_H_
