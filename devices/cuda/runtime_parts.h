// The parts that CudaRuntimeApi() is put together from, a file each, and the casts that they share.
// For this package alone.

#ifndef DOVETAIL_DEVICES_CUDA_RUNTIME_PARTS_H_
#define DOVETAIL_DEVICES_CUDA_RUNTIME_PARTS_H_

#include <cstdint>

#include "cuda.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/cuda/driver.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

void FillCudaMemory(RuntimeApi& api);   // runtime_memory.cc
void FillCudaStreams(RuntimeApi& api);  // runtime_streams.cc: copies, streams, events
void FillCudaKernels(RuntimeApi& api);  // runtime_kernels.cc: modules, launches, other processes

Result CudaPointerInfo(void* self, const void* ptr, PointerInfo* info);  // RuntimeApi's

inline CudaDriver& DriverOf(void* self) { return *static_cast<CudaDriver*>(self); }
inline const CudaSymbols& SymbolsOf(void* self) { return DriverOf(self).symbols(); }

inline CUdeviceptr AsAddress(const void* ptr) { return reinterpret_cast<CUdeviceptr>(ptr); }
inline void* AsPointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUstream AsStream(NativeStream stream) {
  return reinterpret_cast<CUstream>(static_cast<uintptr_t>(stream));
}
inline CUevent AsEvent(NativeEvent event) { return static_cast<CUevent>(event); }

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_RUNTIME_PARTS_H_
