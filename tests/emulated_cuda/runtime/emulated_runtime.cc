// libemulated_cudart.so: CUDA's runtime API over the emulated GPUs of a test, which calls
// EmulateCudaRuntime() first. Without that there is no device.

#include <cstdint>

#include "cuda_runtime.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

using dovetail::NativeStream;
using dovetail::gpu::RuntimeApi;

namespace {

// The number of CUDA's cudaErrorNoDevice. Others are those of the emulator.
constexpr auto kNoDevice = static_cast<cudaError_t>(100);

const RuntimeApi* api = nullptr;
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t Remember(int32_t result) {
  const auto error = static_cast<cudaError_t>(result);
  if (error != cudaSuccess) last_error = error;
  return error;
}

// A thread that has selected no device works on device 0.
cudaError_t SelectDevice() {
  if (api == nullptr) return Remember(kNoDevice);
  int device;
  cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess ? error : cudaSetDevice(device);
}

}  // namespace

extern "C" {

// The address of a RuntimeApi that lives as long as the process.
void EmulateCudaRuntime(const void* runtime_api) {
  api = static_cast<const RuntimeApi*>(runtime_api);
}

cudaError_t cudaGetDevice(int* device) {
  if (api == nullptr) return Remember(kNoDevice);
  int current;
  const cudaError_t error = Remember(api->current_device(api->self, &current));
  if (error == cudaSuccess) *device = current < 0 ? 0 : current;
  return error;
}

cudaError_t cudaSetDevice(int device) {
  if (api == nullptr) return Remember(kNoDevice);
  void* previous = nullptr;
  return Remember(api->push_device(api->self, device, &previous));
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error == kNoDevice) return "no CUDA-capable device is detected";
  return api->describe(api->self, error);
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  if (const cudaError_t error = SelectDevice(); error != cudaSuccess) return error;
  const uint32_t blocks[3] = {grid.x, grid.y, grid.z}, threads[3] = {block.x, block.y, block.z};
  const NativeStream native{reinterpret_cast<uintptr_t>(stream)};
  return Remember(api->launch(api->self, const_cast<void*>(kernel), blocks, threads,
                              static_cast<uint32_t>(shared_bytes), native, arguments));
}

}  // extern "C"
