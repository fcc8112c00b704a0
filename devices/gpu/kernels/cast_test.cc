// Casts by the kernels, planned, run on the host with the device's code, and compared with the
// CPU's casts to the bit.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dovetail/core/internal/float_format.h"
#include "dovetail/core/registry.h"
#include "dovetail/devices/gpu/kernels/testing/host_run.h"
#include "dovetail/devices/gpu/planning/cast.h"
#include "dovetail/devices/gpu/planning/cast_formats.h"
#include "dovetail/tests/emulator/fixture.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using Dims = std::vector<int64_t>;
using Random = std::mt19937;

constexpr DType kAllTypes[] = {
#define DOVETAIL_DTYPE(id, kind, bits, name) k##id,
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
};

std::vector<DType> CastableTypes() {
  std::vector<DType> types;
  std::copy_if(std::begin(kAllTypes), std::end(kAllTypes), std::back_inserter(types), IsCastable);
  return types;
}

// For the backend of the CPU.
class CastKernels : public EmulatedGpu {};

absl::Status CastOnCpu(const TensorView& dst, const TensorView& src) {
  return (*BackendFor(Device::Cpu()))->CastCopy(dst, src, Stream::Default(Device::Cpu()));
}

absl::Status MakeTable(DType from, DType to, unsigned char* table) {
  unsigned char codes[256];
  std::iota(std::begin(codes), std::end(codes), 0);
  const int64_t count = 256, step = 1;
  return CastOnCpu({.data = table, .dtype = to, .shape = {&count, 1}, .strides = {&step, 1}},
                   {.data = codes, .dtype = from, .shape = {&count, 1}, .strides = {&step, 1}});
}

// Memory for elements at any offset from 16-byte alignment, with guard bytes on both sides.
class Memory {
 public:
  Memory(const Dims& shape, const Dims& strides, DType dtype, int64_t misaligned = 0)
      : shape_(shape), strides_(strides), dtype_(dtype) {
    int64_t lowest = 0, highest = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t reach = (std::max<int64_t>(shape[i], 1) - 1) * strides[i];
      (reach < 0 ? lowest : highest) += reach;
    }
    const int64_t item = dtype.itemsize();
    words_.resize((kGuard * 2 + misaligned + (highest - lowest + 1) * item) / 16 + 1);
    origin_ = kGuard + misaligned - lowest * item;
  }
  void FillRandomly(Random& random) {
    for (unsigned char& byte : Bytes()) byte = static_cast<unsigned char>(random());
  }
  absl::Span<unsigned char> Bytes() {
    return {reinterpret_cast<unsigned char*>(words_.data()), words_.size() * 16};
  }
  TensorView View() {
    return {.data = Bytes().data() + origin_,
            .device = Device::Cpu(),
            .dtype = dtype_,
            .shape = shape_,
            .strides = strides_};
  }

 private:
  static constexpr int64_t kGuard = 64;
  struct alignas(16) Word {
    unsigned char byte[16];
  };
  Dims shape_, strides_;
  DType dtype_;
  std::vector<Word> words_;
  int64_t origin_ = 0;
};

using Used = std::map<std::string, int>;

absl::Status RunCopy(const MergedCopy& copy) {
  return ForEachPitchedCopy(copy, [](const PitchedCopy& p) {
    for (int64_t row = 0; row < p.height; ++row) {
      std::memcpy(p.dst + row * p.dst_pitch, p.src + row * p.src_pitch,
                  static_cast<size_t>(p.width));
    }
    return absl::OkStatus();
  });
}

absl::Status RunKernels(const MergedCast& cast, const LaunchLimits& limits, Used* used) {
  const auto same = [](const void* p) { return const_cast<void*>(p); };
  absl::Status s =
      cast.from == cast.to
          ? RunCopy(cast.elements)
          : ForEachCastLaunch(
                cast, MakeTable,
                [&](const CastLaunch& launch) {
                  void* arguments[] = {const_cast<void*>(launch.arguments)};
                  if (used != nullptr) ++(*used)[KernelName(launch.kernel)];
                  EXPECT_LE(launch.blocks, limits.blocks);
                  return RunKernelOnHost(KernelName(launch.kernel), launch.blocks, arguments, same)
                             ? absl::OkStatus()
                             : absl::InternalError("no such kernel");
                },
                limits);
  if (!s.ok() || !cast.zeros) return s;
  const unsigned char zero[8] = {};
  return ForEachFillLaunch(*cast.zeros, zero, cast.zeros->run_bytes, [&](const FillLaunch& fill) {
    void* arguments[] = {const_cast<FillArguments*>(&fill.arguments)};
    return RunKernelOnHost(KernelName(fill.kernel), fill.blocks, arguments, same)
               ? absl::OkStatus()
               : absl::InternalError("no such kernel");
  });
}

// Casts `src` to `to` both ways, and compares every byte, guard bytes included.
void Check(Memory src, Memory to, const LaunchLimits& limits = {}, Used* used = nullptr) {
  Memory expected = to;
  const TensorView from = src.View();
  ASSERT_TRUE(CastOnCpu(expected.View(), from).ok());
  MergedCast cast;
  absl::Status s = MergeCast(to.View(), from, &cast);
  ASSERT_TRUE(s.ok()) << s;
  s = RunKernels(cast, limits, used);
  ASSERT_TRUE(s.ok()) << s;
  ASSERT_EQ(to.Bytes().size(), expected.Bytes().size());
  for (size_t i = 0; i < to.Bytes().size(); ++i) {
    ASSERT_EQ(int{to.Bytes()[i]}, int{expected.Bytes()[i]}) << "byte " << i;
  }
}

// ---- Values ----

// Numbers at which casts of wider types differ from their neighbours: of each exponent, around the
// limits of the integers, NaNs with payloads.
template <typename Uint>
std::vector<Uint> Codes(Random& random) {
  std::vector<Uint> codes = {0, 1, Uint{1} << (8 * sizeof(Uint) - 1), static_cast<Uint>(-1)};
  const int mantissa = sizeof(Uint) == 4 ? 23 : 52;
  for (Uint exponent = 0; exponent < (Uint{1} << (8 * sizeof(Uint) - 1 - mantissa)); ++exponent) {
    const Uint first = exponent << mantissa;
    for (Uint code : {first, first + 1, first - 1, first + (Uint{1} << (mantissa - 1)),
                      static_cast<Uint>(first + (random() % (Uint{1} << mantissa)))}) {
      codes.push_back(code);
      codes.push_back(code | Uint{1} << (8 * sizeof(Uint) - 1));
    }
  }
  for (int bits : {7, 8, 15, 16, 23, 24, 31, 32, 53, 63}) {  // integers, and floats of that size
    for (int64_t near = -2; near <= 2; ++near) {
      const uint64_t integer = (uint64_t{1} << bits) + static_cast<uint64_t>(near);
      codes.push_back(static_cast<Uint>(integer));
      codes.push_back(static_cast<Uint>(0 - integer));
      for (double sign : {1.0, -1.0}) {
        const double number = sign * (std::ldexp(1.0, bits) + static_cast<double>(near) / 2);
        if constexpr (sizeof(Uint) == 4) {
          codes.push_back(std::bit_cast<uint32_t>(static_cast<float>(number)));
        } else {
          codes.push_back(std::bit_cast<uint64_t>(number));
        }
      }
    }
  }
  // Between any two numbers of a narrow format, and a bit off the middle.
  for (int i = 0; i < 20000; ++i) {
    const auto half = static_cast<float>(
        DecodeFloat(*FloatFormatOf(i % 2 == 0 ? kFloat16 : kBFloat16), random() % 65536));
    if constexpr (sizeof(Uint) == 4) {
      codes.push_back(std::bit_cast<uint32_t>(half) + (random() % 2 << 12 | random() % 2 << 15) +
                      random() % 3 - 1);
    } else {
      const auto bits = std::bit_cast<uint64_t>(static_cast<double>(half));
      codes.push_back(bits + (Uint{random() % 2} << 41 | Uint{random() % 2} << 44) + random() % 3 -
                      1);
    }
    codes.push_back(static_cast<Uint>(static_cast<uint64_t>(random()) << 32 | random()));
    codes.push_back(static_cast<Uint>(random() % 1000));
  }
  return codes;
}

// All values of types of one and two bytes, and many of wider ones.
Memory ValuesOf(DType type, Random& random) {
  const auto fill = [&](auto codes) {
    const auto count = static_cast<int64_t>(codes.size());
    Memory memory({count}, {1}, type);
    std::memcpy(memory.View().data, codes.data(), codes.size() * sizeof(codes[0]));
    return memory;
  };
  switch (type.bits) {
    case 8: {
      std::vector<uint8_t> codes(256);
      std::iota(codes.begin(), codes.end(), uint8_t{0});
      return fill(codes);
    }
    case 16: {
      std::vector<uint16_t> codes(65536);
      std::iota(codes.begin(), codes.end(), uint16_t{0});
      return fill(codes);
    }
    case 32:
      return fill(Codes<uint32_t>(random));
    default:
      return fill(Codes<uint64_t>(random));
  }
}

TEST_F(CastKernels, EveryPairOfTypesGivesTheBitsOfTheCpu) {
  Random random(1);
  const std::vector<DType> types = CastableTypes();
  ASSERT_EQ(types.size(), 21u);
  Used used;
  for (const DType from : types) {
    const Memory values = ValuesOf(from, random);
    const int64_t count = Memory(values).View().shape[0];
    for (const DType to : types) {
      if (from == to) continue;
      SCOPED_TRACE(from.ToString() + " to " + to.ToString());
      // By the kernels for dense elements, then by those for any layout.
      Check(values, Memory({count}, {1}, to), {}, &used);
      Check(values, Memory({count}, {2}, to), {}, &used);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (const std::string name : kKernelNames) {
    const bool has_other_values =
        name.find("tiled") != name.npos || name.find("complex") != name.npos;
    if (name.rfind("dovetail_cast_", 0) != 0 || has_other_values) continue;
    EXPECT_GT(used[name], 0) << name;
  }
}

// ---- Layouts ----

// Strides of dense elements in a random order of the dimensions, with gaps and negative steps.
Dims RandomStrides(const Dims& shape, bool repeats, Random& random) {
  Dims order(shape.size()), strides(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (random() % 3 != 0) std::shuffle(order.begin(), order.end(), random);
  int64_t step = 1;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (random() % 8 == 0) step += random() % 9;
    strides[*it] = repeats && random() % 8 == 0 ? 0 : random() % 8 == 0 ? -step : step;
    step *= std::max<int64_t>(shape[*it], 1);
  }
  return strides;
}

DType RandomType(Random& random) {
  static const auto* const types = new std::vector<DType>([] {
    std::vector<DType> all = CastableTypes();
    all.insert(all.end(), {kComplex32, kComplex64, kComplex128, kBComplex32});
    for (int i = 0; i < 10; ++i) {
      all.insert(all.end(), {kFloat32, kBFloat16, kFloat16, kFloat8E4M3Fn});
    }
    return all;
  }());
  return (*types)[random() % types->size()];
}

TEST_F(CastKernels, AnyLayoutArrivesAndNothingElseIsTouched) {
  Random random(2);
  Used used;
  for (int i = 0; i < 3000 && !testing::Test::HasFatalFailure(); ++i) {
    DType from = RandomType(random), to = RandomType(random);
    if (random() % 20 == 0) {
      const DType complex[] = {kComplex32, kComplex64, kComplex128, kBComplex32};
      from = complex[random() % std::size(complex)];
      to = kBool;
    }
    if (from == to || !HasCast(from, to)) continue;
    if (random() % 10 == 0) from.lanes = to.lanes = static_cast<uint16_t>(2 + random() % 3);
    Dims shape(random() % 5);
    for (int64_t& size : shape) size = random() % 12 == 0 ? random() % 2 : 1 + random() % 6;
    if (!shape.empty()) shape[random() % shape.size()] = 1 + random() % 70;
    if (shape.size() > 1 && random() % 3 == 0) shape[random() % shape.size()] = 8 + random() % 70;
    const int64_t from_steps = random() % 4, to_steps = random() % 4;
    Memory src(shape, RandomStrides(shape, true, random), from, from_steps * from.itemsize());
    Memory dst(shape, RandomStrides(shape, false, random), to, to_steps * to.itemsize());
    src.FillRandomly(random);
    dst.FillRandomly(random);
    LaunchLimits limits;
    if (random() % 10 == 0) limits.units = 16 + random() % 200;
    if (random() % 10 == 0) limits.blocks = 1 + random() % 6;
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << from << " to " << to);
    Check(src, dst, limits, &used);
  }
  for (const char* name :
       {"dovetail_cast_complex_2", "dovetail_cast_complex_4", "dovetail_cast_complex_8"}) {
    EXPECT_GT(used[name], 0) << name;
  }
}

TEST_F(CastKernels, TransposedDimensionsOfThePairsGoThroughTiles) {
  Random random(3);
  Used used;
  const int64_t sizes[] = {8, 9, 31, 64, 65, 128, 130};
  const DType types[] = {kFloat32, kFloat16, kBFloat16, kFloat8E4M3Fn, kFloat8E5M2};
  for (const DType from : types) {
    for (const DType to : types) {
      if (from == to) continue;
      for (int i = 0; i < 6 && !testing::Test::HasFatalFailure(); ++i) {
        const int64_t rows = sizes[random() % std::size(sizes)];
        const int64_t columns = sizes[random() % std::size(sizes)];
        const int64_t batch = 1 + random() % 3;
        const int64_t gap = random() % 2;
        const Dims shape = {batch, rows, columns};
        Memory src(shape, {(rows + gap) * columns, 1, rows + gap}, from);
        Memory dst(shape, {rows * columns, columns, 1}, to, random() % 2 * to.itemsize());
        src.FillRandomly(random);
        dst.FillRandomly(random);
        LaunchLimits limits;
        if (random() % 3 == 0) limits.units = 100 + random() % 5000;
        if (random() % 3 == 0) limits.blocks = 1 + random() % 4;
        SCOPED_TRACE(testing::Message() << from << " to " << to << ", " << i);
        Check(src, dst, limits, &used);
      }
    }
  }
  for (const std::string name : kKernelNames) {
    if (name.find("cast_tiled") == name.npos) continue;
    EXPECT_GT(used[name], 0) << name;
  }
}

TEST_F(CastKernels, ARowBeginsAndEndsAtAnyElement) {
  Random random(4);
  Used used;
  for (int64_t begin = 0; begin < 17; ++begin) {
    for (int64_t count : {1, 15, 16, 17, 1000}) {
      Memory src({count}, {1}, kFloat32, begin * 4), dst({count}, {1}, kBFloat16, begin * 2);
      src.FillRandomly(random);
      Check(src, dst, {}, &used);
      Memory bytes({count}, {1}, kUInt8, begin), numbers({count}, {1}, kFloat32, begin * 4);
      bytes.FillRandomly(random);
      Check(bytes, numbers, {}, &used);
    }
  }
  EXPECT_GT(used["dovetail_cast_float32_bfloat16"], 0);
  EXPECT_GT(used["dovetail_cast_4_2"], 0);
  EXPECT_GT(used["dovetail_cast_tables_4"], 0);
}

TEST_F(CastKernels, WhatTheKernelsLackIsLeftToTheCpu) {
  MergedCast cast;
  const auto status = [&](DType to, DType from, int64_t misaligned = 0) {
    Memory dst({4}, {1}, to), src({4}, {1}, from, misaligned);
    return MergeCast(dst.View(), src.View(), &cast);
  };
  EXPECT_TRUE(absl::IsUnimplemented(status(kFloat32, kInt4)));
  EXPECT_TRUE(absl::IsUnimplemented(status(kFloat4E2M1Fn, kFloat32)));
  EXPECT_TRUE(absl::IsUnimplemented(status(kFloat32, kComplex64)));
  EXPECT_TRUE(absl::IsUnimplemented(status(kInt64, kHandle)));
  EXPECT_TRUE(absl::IsUnimplemented(status(kFloat32, {TypeKind::kFloat, 16, 2})));
  EXPECT_TRUE(absl::IsUnimplemented(status(kFloat32, kFloat16, 1)));
  EXPECT_TRUE(status(kFloat32, kFloat16, 2).ok());
}

}  // namespace
}  // namespace dovetail::gpu
