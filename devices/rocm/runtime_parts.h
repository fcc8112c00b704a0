// The parts that RocmRuntimeApi() is put together from, a file each, and the casts that they share.
// For this package alone.

#ifndef DOVETAIL_DEVICES_ROCM_RUNTIME_PARTS_H_
#define DOVETAIL_DEVICES_ROCM_RUNTIME_PARTS_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/rocm/library.h"
#include "hip/hip_runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

void FillHipMemory(RuntimeApi& api);   // runtime_memory.cc
void FillHipStreams(RuntimeApi& api);  // runtime_streams.cc: copies, streams, events
void FillHipKernels(RuntimeApi& api);  // runtime_kernels.cc: modules, launches, other processes

inline HipLibrary& HipOf(void* self) { return *static_cast<HipLibrary*>(self); }
inline const HipSymbols& SymbolsOf(void* self) { return HipOf(self).symbols(); }

// Calls a function of the library's: Call(self, &HipSymbols::hipFree, ptr).
template <typename Function, typename... Args>
Result Call(void* self, Function HipSymbols::*function, Args... args) {
  return HipOf(self).Checked((SymbolsOf(self).*function)(args...));
}

inline hipDeviceptr_t AsAddress(const void* ptr) { return const_cast<void*>(ptr); }
inline hipStream_t AsStream(NativeStream stream) {
  return reinterpret_cast<hipStream_t>(static_cast<uintptr_t>(stream));
}
inline hipEvent_t AsEvent(NativeEvent event) { return static_cast<hipEvent_t>(event); }

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ROCM_RUNTIME_PARTS_H_
