#include "dovetail/devices/cuda/runtime.h"

#include <cstdio>

#include "dovetail/devices/cuda/driver.h"
#include "dovetail/devices/cuda/runtime_parts.h"
#include "dovetail/devices/gpu/runtime/vendor_traits.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

bool Load(void* self, std::string* reason) { return DriverOf(self).Load(reason); }

Result DeviceCount(void* self, int* count) {
  *count = DriverOf(self).device_count();
  return CUDA_SUCCESS;
}

// The driver's library and the driver are one.
Result Version(void* self, int* runtime, int* driver) {
  *runtime = *driver = DriverOf(self).version();
  return CUDA_SUCCESS;
}

Result Info(void* self, int device, DeviceInfo* info) {
  CudaDriver& driver = DriverOf(self);
  const CudaSymbols& cu = driver.symbols();
  CUdevice handle;
  CUresult result = cu.cuDeviceGet(&handle, device);
  if (result != CUDA_SUCCESS) return result;
  *info = {};
  result = cu.cuDeviceGetName(info->name, sizeof(info->name), handle);
  if (result == CUDA_SUCCESS) {
    result = cu.cuDeviceGetPCIBusId(info->pci_bus_id, sizeof(info->pci_bus_id), handle);
  }
  if (result == CUDA_SUCCESS) result = cu.cuDeviceTotalMem_v2(&info->total_bytes, handle);
  if (result != CUDA_SUCCESS) return result;
  std::snprintf(info->architecture, sizeof(info->architecture), "sm_%d%d",
                driver.Attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                driver.Attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  info->multiprocessors = driver.Attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info->has_pools = driver.HasPools(device);
  info->has_managed = driver.Attribute(device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0 &&
                      driver.Attribute(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0;
  info->maps_pinned_host = driver.Attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) != 0;
  return CUDA_SUCCESS;
}

ResultClass Classify(void*, Result result) { return ClassifyCode(result); }

const char* Describe(void* self, Result result) { return DriverOf(self).Describe(result); }

// `*previous` is null when nothing was pushed.
Result PushDevice(void* self, int device, void** previous) {
  CudaDriver& driver = DriverOf(self);
  CUcontext context;
  CUresult result = driver.Context(device, &context);
  if (result != CUDA_SUCCESS) return result;
  CUcontext current = nullptr;
  result = driver.symbols().cuCtxGetCurrent(&current);
  if (result != CUDA_SUCCESS) return result;
  *previous = nullptr;
  if (current == context) return CUDA_SUCCESS;
  result = driver.symbols().cuCtxPushCurrent_v2(context);
  if (result == CUDA_SUCCESS) *previous = context;
  return result;
}

Result PopDevice(void* self, void* previous) {
  if (previous == nullptr) return CUDA_SUCCESS;
  CUcontext popped;
  return SymbolsOf(self).cuCtxPopCurrent_v2(&popped);
}

RuntimeApi MakeApi() {
  RuntimeApi api;
  api.self = &CudaDriver::Get();
  api.vendor = &kCudaTraits;
  api.legacy_stream = NativeStream{1};      // CU_STREAM_LEGACY
  api.per_thread_stream = NativeStream{2};  // CU_STREAM_PER_THREAD
  api.load = Load;
  api.device_count = DeviceCount;
  api.runtime_version = Version;
  api.device_info = Info;
  api.classify = Classify;
  api.describe = Describe;
  api.push_device = PushDevice;
  api.pop_device = PopDevice;
  FillCudaMemory(api);
  FillCudaStreams(api);
  FillCudaKernels(api);
  return api;
}

}  // namespace

const RuntimeApi& CudaRuntimeApi() {
  static const RuntimeApi* const api = new RuntimeApi(MakeApi());
  return *api;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
