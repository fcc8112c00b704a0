// Copies: device time, measured over many copies between two synchronisations.

#include <algorithm>
#include <vector>

#include "benchmarks/gpu_device.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/copy.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Device;
using dovetail::DType;
using dovetail::MemoryKind;
using dovetail::Tensor;

constexpr int kTimes = 10;

Tensor MakePinned(const Gpu& gpu, int64_t nbytes) {
  const Device pinned = gpu.backend->MemoryDevice(gpu.device, MemoryKind::kPinnedHost);
  return Get(Tensor::Empty({nbytes}, dovetail::kUInt8, pinned));
}

// ---- Pinned host memory ----

void AddPinned(const Gpu& gpu, const std::string& step, bool to_device) {
  const int64_t nbytes = int64_t{gpu.is_emulated ? 1 : 256} << 20;
  // Both copy the same memory: pinned memory is not equally fast everywhere.
  static Tensor host = MakePinned(gpu, nbytes);
  static Tensor device = Get(Tensor::Empty({nbytes}, dovetail::kUInt8, gpu.device));
  const auto both = [&gpu, nbytes, to_device](benchmark::State& state, bool plain) {
    Tensor& dst = to_device ? device : host;
    const Tensor& src = to_device ? host : device;
    Timed(state, gpu, kTimes, [&] {
      if (plain) {
        Expect(gpu, gpu.api->copy_async(gpu.api->self, dst.raw_data(), src.raw_data(), nbytes,
                                        gpu.native()));
      } else {
        Expect(dovetail::CopyInto(dst, src, {.stream = gpu.stream}));
      }
    });
  };
  benchmark::RegisterBenchmark((step + "/dovetail").c_str(), [both](auto& state) {
    both(state, false);
  })->UseManualTime();
  benchmark::RegisterBenchmark((step + "/vendor").c_str(), [both](auto& state) {
    both(state, true);
  })->UseManualTime();
}

// ---- Strided copies ----

struct Layout {
  const char* name;
  DType dtype;
  std::vector<int64_t> shape;  // of the source
  std::vector<int64_t> order;  // the source's dimensions, in the order of the destination
};

void AddStrided(const Gpu& gpu, const Layout& layout) {
  std::vector<int64_t> shape = layout.shape;
  if (gpu.is_emulated) {
    const int64_t most = shape.size() > 2 ? 16 : 256;
    for (int64_t& size : shape) size = std::min(size, most);
  }
  const auto strided = [&gpu, layout, shape](benchmark::State& state) {
    const Tensor src = Get(Tensor::Empty(shape, layout.dtype, gpu.device));
    const Tensor view = Get(src.Permute(layout.order));
    Tensor dst = Get(Tensor::Empty(view.shape(), layout.dtype, gpu.device));
    Timed(state, gpu, kTimes,
          [&] { Expect(dovetail::CopyInto(dst, view, {.stream = gpu.stream})); });
  };
  const auto dense = [&gpu, layout, shape](benchmark::State& state) {
    const Tensor src = Get(Tensor::Empty(shape, layout.dtype, gpu.device));
    const Tensor dst = Get(Tensor::Empty(shape, layout.dtype, gpu.device));
    Timed(state, gpu, kTimes, [&] {
      Expect(gpu, gpu.api->copy_async(gpu.api->self, dst.raw_data(), src.raw_data(), src.nbytes(),
                                      gpu.native()));
    });
  };
  benchmark::RegisterBenchmark((std::string(layout.name) + "/dovetail").c_str(), strided)
      ->UseManualTime();
  benchmark::RegisterBenchmark((std::string(layout.name) + "/device copy").c_str(), dense)
      ->UseManualTime();
}

}  // namespace

void AddCopies(const Gpu& gpu) {
  AddPinned(gpu, "pinned to device", true);
  AddPinned(gpu, "device to pinned", false);
  const Layout layouts[] = {
      {"transpose f32", dovetail::kFloat32, {16384, 16384}, {1, 0}},
      {"transpose f32 odd", dovetail::kFloat32, {16383, 16385}, {1, 0}},
      {"transpose u8", dovetail::kUInt8, {32768, 32768}, {1, 0}},
      {"transpose u8 odd", dovetail::kUInt8, {32767, 32769}, {1, 0}},
      {"transpose f16", dovetail::kFloat16, {16384, 32768}, {1, 0}},
      {"transpose f16 odd", dovetail::kFloat16, {16383, 32769}, {1, 0}},
      {"transpose f64", dovetail::kFloat64, {16384, 8192}, {1, 0}},
      {"NCHW to NHWC f32", dovetail::kFloat32, {64, 64, 256, 256}, {0, 2, 3, 1}},
      {"NHWC to NCHW u8 3", dovetail::kUInt8, {512, 512, 512, 3}, {0, 3, 1, 2}},
      {"NHWC to NCHW f16 3", dovetail::kFloat16, {256, 512, 512, 3}, {0, 3, 1, 2}},
      {"NHWC to NCHW f32 3", dovetail::kFloat32, {128, 512, 512, 3}, {0, 3, 1, 2}},
      {"NCHW to NHWC u8 3", dovetail::kUInt8, {512, 3, 512, 512}, {0, 2, 3, 1}},
      {"bhsd to bshd f16", dovetail::kFloat16, {16, 32, 4096, 128}, {0, 2, 1, 3}},
      {"reverse 5-D f32", dovetail::kFloat32, {64, 32, 32, 64, 64}, {4, 3, 2, 1, 0}},
  };
  for (const Layout& layout : layouts) AddStrided(gpu, layout);
}

}  // namespace dovetail_benchmarks
