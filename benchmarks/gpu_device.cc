#include "benchmarks/gpu_device.h"

#include <cstring>

#include "dovetail/core/registry.h"
#include "dovetail/devices/cuda/runtime.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/register_all.h"
#include "dovetail/devices/rocm/runtime.h"
#include "dovetail/tests/emulator/emulator.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Device;
using dovetail::DeviceType;
using dovetail::Registry;
using dovetail::gpu::RuntimeApi;

const Gpu* MakeGpu(const RuntimeApi& api, DeviceType type, bool is_emulated) {
  const Device device{type, 0};
  dovetail::DeviceBackend* backend = Registry::Global().Find(type);
  void* previous;
  const auto* gpu = new Gpu{&api, backend, device, Get(backend->CreateStream(device)), is_emulated};
  Expect(*gpu, api.push_device(api.self, device.index, &previous));
  return gpu;
}

}  // namespace

const Gpu* FindGpu(std::string* reason) {
  const char* wanted = std::getenv("DOVETAIL_BENCHMARK_GPU");
  if (wanted != nullptr && std::strcmp(wanted, "emulator") == 0) {
    dovetail::emulator::EmulatorOptions options;
    options.device_bytes = size_t{256} << 20;
    const auto* emulator = new dovetail::emulator::Emulator(options);
    Expect(dovetail::gpu::RegisterGpuBackend(Registry::Global(), emulator->api()));
    dovetail::RegisterAllBackends();
    return MakeGpu(emulator->api(), DeviceType::kCuda, true);
  }
  dovetail::RegisterAllBackends();
  const RuntimeApi* const apis[] = {&dovetail::gpu::CudaRuntimeApi(),
                                    &dovetail::gpu::RocmRuntimeApi()};
  const DeviceType types[] = {DeviceType::kCuda, DeviceType::kRocm};
  for (int i = 0; i < 2; ++i) {
    std::string why;
    if (apis[i]->load(apis[i]->self, &why)) return MakeGpu(*apis[i], types[i], false);
    *reason += (reason->empty() ? "" : "; ") + why;
  }
  return nullptr;
}

void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void Expect(const Gpu& gpu, dovetail::gpu::Result result) {
  if (result != 0) Fail(gpu.api->describe(gpu.api->self, result));
}

}  // namespace dovetail_benchmarks
