// The GPU that the benchmarks use, with the vendor's calls and Dovetail's backend.
//
//   std::string reason;
//   const Gpu* gpu = FindGpu(&reason);
//   Timed(state, *gpu, 10, [&](NativeStream stream) { return …; });

#ifndef DOVETAIL_BENCHMARKS_GPU_DEVICE_H_
#define DOVETAIL_BENCHMARKS_GPU_DEVICE_H_

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail_benchmarks {

struct Gpu {
  const dovetail::gpu::RuntimeApi* api;  // the vendor's calls
  dovetail::DeviceBackend* backend;      // Dovetail's
  dovetail::Device device;
  dovetail::Stream stream;  // created by Dovetail, used by both
  bool is_emulated;         // times are meaningless then, and sizes are small

  dovetail::NativeStream native() const { return stream.native(); }
};

// Returns the first device, CUDA before ROCm, and makes it current on this thread. With
// DOVETAIL_BENCHMARK_GPU=emulator in the environment, returns an emulated device. If there is none,
// returns nullptr and sets `reason`.
const Gpu* FindGpu(std::string* reason);

// Prints an error message and ends the program.
[[noreturn]] void Fail(const std::string& what);
template <typename T>
T Get(absl::StatusOr<T> value) {
  if (!value.ok()) Fail(value.status().ToString());
  return *std::move(value);
}
inline void Expect(const absl::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}
void Expect(const Gpu& gpu, dovetail::gpu::Result result);

// Measures device work: calls `work` `times` times between two synchronisations.
template <typename Work>
void Timed(benchmark::State& state, const Gpu& gpu, int times, Work work) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 3; ++i) work();  // loads kernels, fills pools
  Expect(gpu.backend->Synchronize(gpu.stream));
  for (auto _ : state) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < times; ++i) work();
    Expect(gpu.backend->Synchronize(gpu.stream));
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    state.SetIterationTime(seconds.count() / times);
  }
}

// Each is defined in a file of its own.
void AddAllocation(const Gpu& gpu);
void AddCopies(const Gpu& gpu);
void AddExchange(const Gpu& gpu);

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_GPU_DEVICE_H_
