// The GPU that the benchmarks run on, and its vendor's plain calls beside Dovetail's.
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
#include "dovetail/devices/gpu/runtime_api.h"

namespace dovetail_benchmarks {

struct Gpu {
  const dovetail::gpu::RuntimeApi* api;  // the vendor's calls
  dovetail::DeviceBackend* backend;      // Dovetail's
  dovetail::Device device;
  dovetail::Stream stream;  // of ours, for both
  bool is_emulated;         // times mean nothing then, and sizes are small

  dovetail::NativeStream native() const { return stream.native(); }
};

// The first device that there is, CUDA's before ROCm's, current on this thread; or, where the
// environment has DOVETAIL_BENCHMARK_GPU=emulator, an emulated one. nullptr, and why, where there
// is none.
const Gpu* FindGpu(std::string* reason);

// Ends the program with what went wrong.
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

// Measures work that the device does: `work` is given `times` times between two synchronisations.
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

// One file each.
void AddAllocation(const Gpu& gpu);
void AddCopies(const Gpu& gpu);
void AddExchange(const Gpu& gpu);

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_GPU_DEVICE_H_
