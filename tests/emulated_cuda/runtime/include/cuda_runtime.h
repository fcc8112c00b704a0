// A part of CUDA's runtime API for the C++ compiler, over emulated GPUs: kernels in CUDA are
// compiled and tested without a GPU and without nvcc.
//
// Real: the kernel's source, its launch with a grid, a stream and arguments, the current device and
// its errors, and barriers between the threads of a block, each of which is a thread of the host.
// Emulated: the C++ compiler compiles the kernel for the host, blocks run one after another, and
// streams and memory are those of tests/emulator. There are no warps and no atomics, and shared
// memory has the values of the block before.
//
// launches.sed turns Kernel<<<grid, block, 0, stream>>>(x), which is not C++, into
// cuda_emulation::Launch(Kernel, grid, block, 0, stream)(x).

#ifndef DOVETAIL_TESTS_EMULATED_CUDA_RUNTIME_INCLUDE_CUDA_RUNTIME_H_
#define DOVETAIL_TESTS_EMULATED_CUDA_RUNTIME_INCLUDE_CUDA_RUNTIME_H_

#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "dovetail/tests/emulator/host_kernel.h"

#define __host__
#define __device__
#define __global__
#define __shared__ static

struct dim3 {
  // NOLINTNEXTLINE(google-explicit-constructor): a launch has numbers in their place, as in CUDA.
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
  unsigned x, y, z;
};
// Of this thread, in a kernel.
inline thread_local dim3 threadIdx(0, 0, 0), blockIdx(0, 0, 0), blockDim, gridDim;

enum cudaError_t : int { cudaSuccess = 0 };
using cudaStream_t = struct CUstream_st*;

extern "C" {
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
// `kernel` is a dovetail::emulator::HostKernel.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream);
}

namespace cuda_emulation {

inline thread_local std::barrier<>* threads_of_block = nullptr;

template <typename Thread>
void RunBlock(const dim3& grid, const dim3& block, const dim3& index, const Thread& run) {
  const unsigned count = block.x * block.y * block.z;
  std::barrier<> barrier(count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      gridDim = grid;
      blockDim = block;
      blockIdx = index;
      threadIdx = dim3(i % block.x, i / block.x % block.y, i / block.x / block.y);
      threads_of_block = &barrier;
      run();
      barrier.arrive_and_drop();  // the others wait for this thread no more
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Kernel<<<grid, block, shared_bytes, stream>>>, which is then called with the arguments. An error
// is left for cudaGetLastError().
template <typename... Parameters>
class Launch {
 public:
  Launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes = 0,
         cudaStream_t stream = nullptr)
      : kernel_(kernel), grid_(grid), block_(block), shared_bytes_(shared_bytes), stream_(stream) {}

  void operator()(Parameters... arguments) const {
    static constexpr dovetail::emulator::HostParameter kParameters[] = {
        {sizeof(Parameters), std::is_pointer_v<Parameters>}...};
    const dovetail::emulator::HostKernel kernel = {kParameters, sizeof...(Parameters),
                                                   reinterpret_cast<void (*)()>(kernel_), &RunGrid};
    void* pointers[] = {&arguments...};
    cudaLaunchKernel(&kernel, grid_, block_, pointers, shared_bytes_, stream_);
  }

 private:
  static void RunGrid(void (*function)(), const uint32_t grid[3], const uint32_t block[3],
                      void** arguments) {
    const auto run = [&] { Call(function, arguments, std::index_sequence_for<Parameters...>()); };
    const dim3 blocks(grid[0], grid[1], grid[2]), threads(block[0], block[1], block[2]);
    for (unsigned z = 0; z < blocks.z; ++z) {
      for (unsigned y = 0; y < blocks.y; ++y) {
        for (unsigned x = 0; x < blocks.x; ++x) RunBlock(blocks, threads, dim3(x, y, z), run);
      }
    }
  }
  template <size_t... kIndices>
  static void Call(void (*function)(), void** arguments, std::index_sequence<kIndices...>) {
    reinterpret_cast<void (*)(Parameters...)>(function)(
        *static_cast<Parameters*>(arguments[kIndices])...);
  }

  void (*kernel_)(Parameters...);
  dim3 grid_, block_;
  size_t shared_bytes_;
  cudaStream_t stream_;
};

}  // namespace cuda_emulation

inline void __syncthreads() { cuda_emulation::threads_of_block->arrive_and_wait(); }

#endif  // DOVETAIL_TESTS_EMULATED_CUDA_RUNTIME_INCLUDE_CUDA_RUNTIME_H_
