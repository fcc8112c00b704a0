// Allocation and release of device memory: host time of a Storage without pending work, compared
// with the vendor's two calls.

#include "benchmarks/gpu_device.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/storage.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::MemoryKind;

void Dovetail(benchmark::State& state, const Gpu& gpu, const char* name, size_t nbytes) {
  Expect(gpu.backend->SelectAllocator(gpu.device, MemoryKind::kDevice, name));
  for (auto _ : state) {
    dovetail::StorageRef storage = Get(dovetail::Storage::Allocate(nbytes, gpu.stream));
    benchmark::DoNotOptimize(storage);
  }
  Expect(Get(gpu.backend->GetAllocator(gpu.device, MemoryKind::kDevice))->Trim(0));
}

void VendorPool(benchmark::State& state, const Gpu& gpu, size_t nbytes) {
  const auto& api = *gpu.api;
  Expect(gpu, api.pool_set_release_threshold(api.self, gpu.device.index, SIZE_MAX));
  for (auto _ : state) {
    void* data = nullptr;
    Expect(gpu, api.malloc_async(api.self, nbytes, gpu.native(), &data));
    benchmark::DoNotOptimize(data);
    Expect(gpu, api.free_async(api.self, data, gpu.native()));
  }
}

}  // namespace

void AddAllocation(const Gpu& gpu) {
  struct Size {
    const char* name;
    size_t nbytes;
  };
  for (const Size& size : {Size{"allocate 1 KiB", 1 << 10}, Size{"allocate 1 MiB", 1 << 20},
                           Size{"allocate 64 MiB", 64 << 20}}) {
    const std::string step = size.name;
    // The ratios are for the caching allocator, the counterpart of PyTorch's and CuPy's.
    benchmark::RegisterBenchmark((step + "/dovetail").c_str(), [&gpu, size](auto& state) {
      Dovetail(state, gpu, "caching(async)", size.nbytes);
    });
    benchmark::RegisterBenchmark((step + "/dovetail async").c_str(), [&gpu, size](auto& state) {
      Dovetail(state, gpu, "async", size.nbytes);
    });
    benchmark::RegisterBenchmark((step + "/vendor").c_str(), [&gpu, size](auto& state) {
      VendorPool(state, gpu, size.nbytes);
    });
  }
}

}  // namespace dovetail_benchmarks
