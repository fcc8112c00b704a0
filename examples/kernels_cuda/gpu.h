// What kernels on a GPU share: the vendor's runtime, its errors as exceptions, and the current
// device. One source for CUDA, which nvcc compiles, and ROCm, which hipcc compiles.

#ifndef DOVETAIL_EXAMPLES_KERNELS_CUDA_GPU_H_
#define DOVETAIL_EXAMPLES_KERNELS_CUDA_GPU_H_

#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#define cudaError_t hipError_t
#define cudaGetDevice hipGetDevice
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaSetDevice hipSetDevice
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess
#else
#include <cuda_runtime.h>
#endif

#include <stdexcept>
#include <string>

#include "dovetail/python/arg.h"

#ifdef __HIPCC__
using OnGpu = dovetail::OnRocm;
#else
using OnGpu = dovetail::OnCuda;
#endif

inline void Check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Makes a device the current one until the end of the scope. A launch needs that: its stream
// belongs to a device.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    Check(cudaGetDevice(&before_));
    Check(cudaSetDevice(device));
  }
  ~DeviceGuard() { (void)cudaSetDevice(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
};

#endif  // DOVETAIL_EXAMPLES_KERNELS_CUDA_GPU_H_
