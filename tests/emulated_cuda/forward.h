// The common part of the emulated driver: the emulator, each thread's stack of contexts, and the
// driver's error numbers.

#ifndef DOVETAIL_TESTS_EMULATED_CUDA_FORWARD_H_
#define DOVETAIL_TESTS_EMULATED_CUDA_FORWARD_H_

#include <vector>

#include "cuda.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/tests/emulator/emulator.h"

namespace emulated_cuda {

using dovetail::NativeStream;
using dovetail::emulator::Emulator;
using dovetail::gpu::RuntimeApi;

Emulator& Gpu();

// A process that was forked after cuInit() has no driver.
bool& IsInitialized();

// A context is the number of its device plus one.
inline CUcontext ContextOf(int device) {
  return reinterpret_cast<CUcontext>(static_cast<intptr_t>(device) + 1);
}
inline int DeviceOf(CUcontext context) {
  return static_cast<int>(reinterpret_cast<intptr_t>(context) - 1);
}
std::vector<CUcontext>& Contexts();

CUresult ResultOf(dovetail::gpu::Result result);

inline NativeStream StreamOf(CUstream stream) {
  return NativeStream{reinterpret_cast<uintptr_t>(stream)};
}
inline void* PointerOf(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Calls function(gpu) with the device of the thread's context.
template <typename Function>
CUresult WithDevice(Function function) {
  if (!IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (Contexts().empty() || Contexts().back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const RuntimeApi& api = Gpu().api();
  void* previous;
  const int device = DeviceOf(Contexts().back());
  if (const auto r = api.push_device(api.self, device, &previous); r != 0) return ResultOf(r);
  const CUresult result = function(device);
  api.pop_device(api.self, previous);
  return result;
}

// The same for a function of RuntimeApi.
template <typename Function, typename... Args>
CUresult Forward(Function RuntimeApi::* function, Args... args) {
  return WithDevice([&](int) {
    const RuntimeApi& api = Gpu().api();
    return ResultOf((api.*function)(api.self, args...));
  });
}

}  // namespace emulated_cuda

#endif  // DOVETAIL_TESTS_EMULATED_CUDA_FORWARD_H_
