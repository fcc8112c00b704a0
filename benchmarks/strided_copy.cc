// How close is a strided copy to the speed of memcpy? Each layout is copied into dense memory, and
// compared with memcpy and with streaming stores of as many bytes between the same two buffers. The
// faster of these two is the baseline; within the cache that is memcpy.
//
// Tiny tensors are compared with a loop nest written for their rank, with strides as variables. All
// copies use one thread, except those named threads_2.

#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "benchmarks/harness/machine.h"
#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/tensor.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/strided_copy.h"
#include "dovetail/devices/cpu/simd_level.h"
#include "dovetail/devices/register_default.h"

namespace {

using dovetail::DType;
using dovetail::Tensor;
using dovetail::TensorView;
using Dims = std::vector<int64_t>;

struct Layout {
  const char* name;
  DType dtype;
  Dims shape;  // of the dense source
  Dims order;  // the order of its dimensions in the copy
  // The step of each dimension's slice; a negative step reverses it.
  Dims steps = {};    // NOLINT(readability-redundant-member-init): most cases leave it out
  int64_t start = 0;  // byte offset of both sides from the alignment of new memory
};

const DType kF16 = dovetail::kFloat16, kF32 = dovetail::kFloat32, kF64 = dovetail::kFloat64;
const DType kU8 = dovetail::kUInt8;

const Layout kLayouts[] = {
    {"T_4096x4096_f32", kF32, {4096, 4096}, {1, 0}},
    {"T_8191x4097_f32", kF32, {8191, 4097}, {1, 0}},
    {"T_512x512_f32", kF32, {512, 512}, {1, 0}},
    {"T_4096x4096_u8", kU8, {4096, 4096}, {1, 0}},
    {"T_3000x3000_f64", kF64, {3000, 3000}, {1, 0}},
    {"NCHW_NHWC_f32", kF32, {16, 64, 128, 128}, {0, 2, 3, 1}},
    {"NHWC_NCHW_u8", kU8, {16, 224, 224, 3}, {0, 3, 1, 2}},
    {"NHWC_NCHW_f32", kF32, {16, 224, 224, 3}, {0, 3, 1, 2}},
    {"bhsd_bshd_f16", kF16, {4, 32, 1024, 64}, {0, 2, 1, 3}},
    {"reverse_5d_f32", kF32, {16, 16, 32, 32, 64}, {4, 3, 2, 1, 0}},
    // More cases: small, odd and prime sizes, elements of all sizes, misaligned starts, slices,
    // reversals.
    {"T_64x64_f32", kF32, {64, 64}, {1, 0}},
    {"T_256x256_u8", kU8, {256, 256}, {1, 0}},
    {"T_1000x1000_u8", kU8, {1000, 1000}, {1, 0}},
    {"T_2048x2048_f16", kF16, {2048, 2048}, {1, 0}},
    {"T_1021x2039_f16", kF16, {1021, 2039}, {1, 0}},
    {"T_1024x1024_c128", dovetail::kComplex128, {1024, 1024}, {1, 0}},
    {"T_3001x3001_f32_unaligned", kF32, {3001, 3001}, {1, 0}, {}, 4},
    {"T_1021x1021_f64_unaligned", kF64, {1021, 1021}, {1, 0}, {}, 1},
    {"NCHW_NHWC_u8_3", kU8, {16, 3, 224, 224}, {0, 2, 3, 1}},
    {"NCHW_NHWC_f32_3", kF32, {16, 3, 224, 224}, {0, 2, 3, 1}},
    {"NHWC_NCHW_u8_4", kU8, {16, 224, 224, 4}, {0, 3, 1, 2}},
    {"rotate_101x103x107_f32", kF32, {101, 103, 107}, {2, 0, 1}},
    {"swap_outer_f32_rows_of_100", kF32, {200, 300, 100}, {1, 0, 2}},
    {"swap_outer_f32_rows_of_7", kF32, {300, 400, 7}, {1, 0, 2}},
    {"flip_last_f32", kF32, {1000, 1000}, {0, 1}, {1, -1}},
    {"flip_last_u8", kU8, {1000, 1000}, {0, 1}, {1, -1}},
    {"flip_first_f32", kF32, {1000, 1000}, {0, 1}, {-1, 1}},
    {"every_2nd_f32", kF32, {1000, 2000}, {0, 1}, {1, 2}},
    {"every_3rd_u8", kU8, {1000, 3000}, {0, 1}, {1, 3}},
    {"NCHW_NHWC_f32_100", kF32, {16, 100, 56, 56}, {0, 2, 3, 1}},
    {"NCHW_NHWC_f16_67", kF16, {16, 67, 56, 56}, {0, 2, 3, 1}},
    {"NHWC_NCHW_u8_8", kU8, {16, 224, 224, 8}, {0, 3, 1, 2}},
    {"NCHW_NHWC_f32_8", kF32, {16, 8, 224, 224}, {0, 2, 3, 1}},
    {"NHWC_NCHW_u8_32", kU8, {16, 224, 224, 32}, {0, 3, 1, 2}},
    {"BGR_RGB_u8", kU8, {1000, 1000, 3}, {0, 1, 2}, {1, 1, -1}},
    {"T_1025x1000_f32", kF32, {1025, 1000}, {1, 0}},
    {"turned_u8_3", kU8, {1080, 1920, 3}, {1, 0, 2}, {1, -1, 1}},
    {"turned_f32_3", kF32, {224, 224, 3}, {1, 0, 2}, {1, -1, 1}},
    {"mirrored_u8_3", kU8, {1080, 1920, 3}, {0, 1, 2}, {1, -1, 1}},
    {"mirrored_to_planes_u8_3", kU8, {1080, 1920, 3}, {2, 0, 1}, {1, -1, 1}},
    {"every_2nd_pixel_u8_3", kU8, {1080, 1920, 3}, {0, 1, 2}, {2, 2, 1}},
    {"rows_unaligned_f32", kF32, {3000, 3000}, {0, 1}, {2, 1}, 4},
};

// The large tensors that are also copied on two threads.
const char* const kOnTwoThreads[] = {"T_4096x4096_f32", "T_3000x3000_f64", "NCHW_NHWC_f32",
                                     "NHWC_NCHW_u8",    "NHWC_NCHW_f32",   "bhsd_bshd_f16",
                                     "reverse_5d_f32"};

struct Operands {
  Tensor dst_memory, src_memory;
  Dims shape, dst_strides, src_strides;
  TensorView to, from;
  int64_t bytes;

  explicit Operands(const Layout& layout) {
    const int64_t size = layout.dtype.itemsize();
    const int64_t count = std::accumulate(layout.shape.begin(), layout.shape.end(), int64_t{1},
                                          std::multiplies<int64_t>());
    src_memory = Make(count * size + layout.start, 1);
    Dims strides(layout.shape.size());
    int64_t step = 1;
    for (size_t i = strides.size(); i-- > 0; step *= layout.shape[i]) strides[i] = step;
    char* first = static_cast<char*>(src_memory.raw_data()) + layout.start;
    for (int64_t from_dim : layout.order) {
      const int64_t by = layout.steps.empty() ? 1 : layout.steps[from_dim];
      const int64_t n = layout.shape[from_dim] / (by < 0 ? -by : by);
      if (by < 0) first += (n - 1) * strides[from_dim] * size;
      shape.push_back(n);
      src_strides.push_back(strides[from_dim] * by);
    }
    dst_strides.resize(shape.size());
    step = 1;
    for (size_t i = shape.size(); i-- > 0; step *= shape[i]) dst_strides[i] = step;
    bytes = step * size;
    dst_memory = Make(bytes + layout.start, 0);
    to = {.data = static_cast<char*>(dst_memory.raw_data()) + layout.start,
          .dtype = layout.dtype,
          .shape = shape,
          .strides = dst_strides};
    from = {.data = first, .dtype = layout.dtype, .shape = shape, .strides = src_strides};
  }

  static Tensor Make(int64_t bytes, int value) {
    dovetail::RegisterDefaultBackends();
    Tensor memory = *Tensor::Empty({bytes}, kU8);
    std::memset(memory.raw_data(), value, bytes);
    return memory;
  }
};

template <typename Work>
void Measure(benchmark::State& state, const Layout& layout, int threads, Work work) {
  Operands o(layout);
  if (threads > 1) dovetail_benchmarks::UnpinThread();  // for the pool's threads
  if (!dovetail::SetNumThreads(threads).ok()) return state.SkipWithError("threads");
  for (auto _ : state) {
    work(o);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * o.bytes);
  dovetail_benchmarks::PinThread(0);
}

void Stream(const Operands& o) {
  const auto* kernels = dovetail::cpu::KernelsOf(dovetail::BestSimdLevel());
  // Both buffers start at a line boundary; the last, incomplete line is left out.
  kernels->stream(static_cast<char*>(o.dst_memory.raw_data()),
                  static_cast<const char*>(o.src_memory.raw_data()), o.bytes / 64);
  kernels->stream_done();
}

void RegisterLayouts() {
  auto add = [](const Layout& layout, const char* library, int threads, auto work) {
    benchmark::RegisterBenchmark(
        (std::string(layout.name) + "/" + library).c_str(),
        [=, &layout](benchmark::State& state) { Measure(state, layout, threads, work); })
        ->UseRealTime();
  };
  for (const Layout& layout : kLayouts) {
    add(layout, "dovetail", 1, [](Operands& o) { dovetail::StridedCopy(o.to, o.from); });
    add(layout, "memcpy", 1, [](Operands& o) {
      std::memcpy(o.dst_memory.raw_data(), o.src_memory.raw_data(), o.bytes);
    });
    add(layout, "past_cache", 1, [](Operands& o) { Stream(o); });
    for (const char* name : kOnTwoThreads) {
      if (std::strcmp(name, layout.name) != 0) continue;
      add(layout, "threads_2", 2, [](Operands& o) { dovetail::StridedCopy(o.to, o.from); });
    }
  }
}

// The loop nest that one would write for a known rank and type.
void Nest2(float* to, const float* from, const int64_t* shape, const int64_t* to_strides,
           const int64_t* from_strides) {
  for (int64_t i = 0; i < shape[0]; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      to[i * to_strides[0] + j * to_strides[1]] = from[i * from_strides[0] + j * from_strides[1]];
    }
  }
}
void Nest3(float* to, const float* from, const int64_t* shape, const int64_t* to_strides,
           const int64_t* from_strides) {
  for (int64_t i = 0; i < shape[0]; ++i) {
    Nest2(to + i * to_strides[0], from + i * from_strides[0], shape + 1, to_strides + 1,
          from_strides + 1);
  }
}

const Layout kTiny[] = {
    {"tiny_2x2_f32_T", kF32, {2, 2}, {1, 0}},
    {"tiny_4x4_f32_T", kF32, {4, 4}, {1, 0}},
    {"tiny_8x8_f32_T", kF32, {8, 8}, {1, 0}},
    {"tiny_3x5_f32_flipped", kF32, {3, 5}, {0, 1}, {1, -1}},
    {"tiny_2x3x4_f32_reversed", kF32, {2, 3, 4}, {2, 1, 0}},
    {"tiny_4x4x4_f32_rotated", kF32, {4, 4, 4}, {1, 2, 0}},
};

void RegisterTiny() {
  for (const Layout& layout : kTiny) {
    const std::string name = layout.name;
    benchmark::RegisterBenchmark((name + "/dovetail").c_str(), [&](benchmark::State& state) {
      Operands o(layout);
      for (auto _ : state) {
        dovetail::StridedCopy(o.to, o.from);
        benchmark::ClobberMemory();
      }
    })->UseRealTime();
    benchmark::RegisterBenchmark((name + "/nest").c_str(), [&](benchmark::State& state) {
      Operands o(layout);
      for (auto _ : state) {
        benchmark::DoNotOptimize(o.shape.data());
        (o.shape.size() == 2 ? Nest2 : Nest3)(static_cast<float*>(o.to.data),
                                              static_cast<float*>(o.from.data), o.shape.data(),
                                              o.dst_strides.data(), o.src_strides.data());
        benchmark::ClobberMemory();
      }
    })->UseRealTime();
  }
}

[[maybe_unused]] const bool registered = [] {
  RegisterLayouts();
  RegisterTiny();
  return true;
}();

}  // namespace
