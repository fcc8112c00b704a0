// What do allocations, copies and exchanges on a GPU cost, compared with the vendor's own calls?
//
//   allocation and release, compared with the vendor's stream-ordered pool (host time)
//   copies between pinned memory and the device, compared with the plain asynchronous copy
//   strided copies, compared with a device-to-device copy of as many bytes
//   export and import on the same stream and on another (host time)
//
// Goals on an H200: allocation is no slower than the pool; pinned copies reach 0.97 of the plain
// copy's speed; large transposes reach 0.85 of the device-to-device copy's speed (a ratio of at
// most 1.18 in the table). benchmarks/gpu_peers.py compares with PyTorch and CuPy.

#include <cstdio>

#include "benchmarks/gpu_device.h"
#include "benchmarks/harness/ratio_report.h"

using dovetail_benchmarks::Expect;
using dovetail_benchmarks::FindGpu;
using dovetail_benchmarks::Gpu;

int main(int argc, char** argv) {
  std::string reason;
  const Gpu* gpu = FindGpu(&reason);
  if (gpu == nullptr) {
    std::fprintf(stderr, "No GPU here, so there is nothing to measure: %s\n", reason.c_str());
    return 0;
  }
  dovetail::gpu::DeviceInfo info;
  Expect(*gpu, gpu->api->device_info(gpu->api->self, gpu->device.index, &info));
  std::fprintf(stderr, "%s (%s)%s\n", info.name, info.architecture,
               gpu->is_emulated ? ": emulated, so the times mean nothing" : "");
  dovetail_benchmarks::AddAllocation(*gpu);
  dovetail_benchmarks::AddCopies(*gpu);
  dovetail_benchmarks::AddExchange(*gpu);
  const int code = dovetail_benchmarks::RunBenchmarks(argc, argv);
  std::fflush(stdout);
  // Skips the destructors of static objects: the driver may be gone before they run.
  std::_Exit(code);
}
