#include "dovetail/devices/cpu/cast/path.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dovetail/core/internal/element.h"
#include "dovetail/core/internal/float_format.h"
#include "dovetail/devices/cpu/cast/narrow.h"
#include "dovetail/devices/cpu/cast/native.h"
#include "dovetail/devices/cpu/stream_threshold.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

bool IsFloat(DType t) { return FloatFormatOf(t).has_value(); }
bool IsInteger(DType t) { return t.kind == TypeKind::kInt || t.kind == TypeKind::kUInt; }
bool IsReal(DType t) { return t.kind != TypeKind::kHandle && !t.is_complex(); }

// Types with loops of their own.
std::vector<SimdLevel> Levels() {
  std::vector<SimdLevel> levels;
  for (SimdLevel level : {SimdLevel::kNone, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (HasSimdLevel(level)) levels.push_back(level);
  }
  return levels;
}

// Contiguous elements of whole bytes.
using Bytes = std::vector<unsigned char>;

uint64_t CodeAt(const Bytes& bytes, DType t, size_t i) {
  uint64_t code = 0;
  std::memcpy(&code, &bytes[i * t.itemsize()], t.itemsize());
  return code;
}

// All codes of a type of at most 16 bits. For wider types, numbers of all magnitudes, the limits of
// every narrower type and their neighbours, and random codes.
Bytes Sources(DType t) {
  std::vector<uint64_t> codes;
  if (t.bits <= 16) {
    for (uint64_t code = 0; code < uint64_t{1} << t.bits; ++code) codes.push_back(code);
  } else {
    std::mt19937_64 random(t.bits);
    for (int i = 0; i < 4000; ++i) codes.push_back(random() >> (IsInteger(t) ? random() % 64 : 0));
    auto add = [&](uint64_t code) {
      for (uint64_t near : {code - 1, code, code + 1}) {
        codes.push_back(near);
        codes.push_back(IsFloat(t) ? near ^ (uint64_t{1} << (t.bits - 1)) : -near);
      }
    };
    for (int exponent = -160; exponent < 130; ++exponent) {
      for (double part : {1.0, 1.5, 1.0 + 0x1p-4, 1.0 + 0x1p-8, 1.0 + 0x1p-11, 1.75, 1.9375}) {
        const double number = std::ldexp(part, exponent);
        if (t == kFloat64) {
          add(std::bit_cast<uint64_t>(number));
        } else if (t == kFloat32) {
          add(std::bit_cast<uint32_t>(static_cast<float>(number)));
        } else if (number < 0x1p64) {
          add(static_cast<uint64_t>(number));
        }
      }
    }
    if (IsFloat(t)) {
      const FloatFormat f = *FloatFormatOf(t);
      for (uint64_t code : {f.infinity(), f.nan(false), f.max_finite(), uint64_t{0}}) add(code);
    }
  }
  Bytes bytes(codes.size() * t.itemsize());
  for (size_t i = 0; i < codes.size(); ++i) {
    std::memcpy(&bytes[i * t.itemsize()], &codes[i], t.itemsize());
  }
  return bytes;
}

// The rule of native.h, as plain code.
uint64_t TruncatedTo(DType t, double v) {
  const bool is_unsigned = t.kind == TypeKind::kUInt && t.bits >= 32;
  const int bits = t.bits < 32 ? 32 : t.bits;
  const double half = std::ldexp(1.0, bits - 1);
  const uint64_t least = uint64_t{1} << (bits - 1);
  auto to_signed = [&](double x) {
    return x >= -half && x < half ? static_cast<uint64_t>(static_cast<int64_t>(x)) : least;
  };
  if (is_unsigned && v >= half) return to_signed(v - half) ^ least;
  return to_signed(v);
}

uint64_t Low(uint64_t code, int bits) {
  return bits == 64 ? code : code & ((uint64_t{1} << bits) - 1);
}

uint64_t FloatCode(DType t, float v) { return EncodeFloat(*FloatFormatOf(t), v); }

// The expected code of an element.
uint64_t Expected(DType src, uint64_t code, DType dst) {
  const ElementValue value = ReadElement(&code, 0, src);
  return std::visit(
      [&](auto v) -> uint64_t {
        if constexpr (std::is_same_v<decltype(v), std::complex<double>>) {
          ADD_FAILURE();
          return 0;
        } else {
          if (dst == kBool) return v != 0;
          if (IsInteger(dst)) {
            if constexpr (std::is_same_v<decltype(v), double>) {
              return Low(TruncatedTo(dst, v), dst.bits);
            } else {
              return Low(static_cast<uint64_t>(v), dst.bits);
            }
          }
          if (dst == kFloat64) return std::bit_cast<uint64_t>(static_cast<double>(v));
          const bool once = src == kFloat64 && dst == kFloat16;
          if (once) return EncodeFloat(*FloatFormatOf(dst), static_cast<double>(v));
          return FloatCode(dst, static_cast<float>(v));
        }
      },
      value);
}

bool IsNan(DType t, uint64_t code) {
  const double number = DecodeFloat(*FloatFormatOf(t), code);
  return number != number;
}

// Whether codes are equal; of two NaNs, whether their signs are.
bool SameElement(DType t, uint64_t a, uint64_t b) {
  if (a == b) return true;
  if (!IsFloat(t) || !IsNan(t, a) || !IsNan(t, b)) return false;
  return ((a ^ b) & FloatFormatOf(t)->sign_mask()) == 0;
}

// Casts `n` elements at an odd address, and checks that the bytes around them stay.
Bytes RunAt(const CastPath& path, const Bytes& src, DType from, DType to, size_t n) {
  Bytes shifted(1 + n * from.itemsize());
  std::memcpy(shifted.data() + 1, src.data(), n * from.itemsize());
  Bytes room(2 + n * to.itemsize(), 0xa5);
  path.Run(shifted.data() + 1, room.data() + 1, n);
  EXPECT_EQ(room.front(), 0xa5);
  EXPECT_EQ(room.back(), 0xa5) << from << " to " << to << ", " << n;
  return {room.begin() + 1, room.end() - 1};
}

class CastPathTest : public testing::TestWithParam<DType> {};

TEST_P(CastPathTest, EveryPairOfRealTypesIsCastByTheRulesAtEveryLevel) {
  const DType src = GetParam();
  const Bytes sources = Sources(src);
  const size_t n = sources.size() / src.itemsize();
  for (DType dst : kAllDTypes) {
    if (!IsReal(dst)) continue;
    std::vector<uint64_t> expected(n);
    for (size_t i = 0; i < n; ++i) expected[i] = Expected(src, CodeAt(sources, src, i), dst);
    for (SimdLevel level : Levels()) {
      const std::optional<CastPath> path = CastPath::Find(src, dst, level);
      ASSERT_TRUE(path.has_value()) << src << " to " << dst;
      const Bytes cast = RunAt(*path, sources, src, dst, n);
      int wrong = 0;
      for (size_t i = 0; i < n && wrong < 5; ++i) {
        if (SameElement(dst, CodeAt(cast, dst, i), expected[i])) continue;
        ++wrong;
        ADD_FAILURE() << src << " to " << dst << " at level " << static_cast<int>(level) << std::hex
                      << ": 0x" << CodeAt(sources, src, i) << " becomes 0x" << CodeAt(cast, dst, i)
                      << " and not 0x" << expected[i];
      }
    }
  }
}

// Casts two rows of them, with gaps on both sides.
TEST_P(CastPathTest, ElementsCastWhereTheyLieAreThoseOfADenseCast) {
  const DType src = GetParam();
  const Bytes sources = Sources(src);
  const auto from_size = static_cast<size_t>(src.itemsize());
  for (DType dst : kAllDTypes) {
    const StridedStep step = NativeStridedStep(src, dst);
    const std::optional<CastPath> path = CastPath::Find(src, dst, SimdLevel::kNone);
    const bool is_native =
        NativeStep(src, dst, SimdLevel::kNone) != nullptr && IsReal(src) && IsReal(dst);
    ASSERT_EQ(step != nullptr, is_native) << src << " to " << dst;
    if (step == nullptr) continue;
    const auto to_size = static_cast<size_t>(dst.itemsize());
    const size_t n = sources.size() / from_size / 2 * 2;
    const Bytes dense = RunAt(*path, sources, src, dst, n);
    Bytes spread(2 * n * from_size), room(3 * n * to_size, 0xa5), expected = room;
    for (size_t i = 0; i < n; ++i) {
      std::memcpy(&spread[2 * i * from_size], &sources[i * from_size], from_size);
      std::memcpy(&expected[3 * i * to_size], &dense[i * to_size], to_size);
    }
    const auto bytes = [](size_t size) { return static_cast<int64_t>(size); };
    step(spread.data(), room.data(),
         {.rows = 2,
          .src_row = bytes(n * from_size),
          .dst_row = bytes(n / 2 * 3 * to_size),
          .count = bytes(n / 2),
          .src_step = bytes(2 * from_size),
          .dst_step = bytes(3 * to_size)});
    EXPECT_EQ(room, expected) << src << " to " << dst;
  }
}

TEST_P(CastPathTest, AnyNumberOfElementsIsCastAndNothingElseIsWritten) {
  const DType src = GetParam();
  const Bytes sources = Sources(src);
  for (DType dst : {kBool, kInt4, kInt64, kFloat16, kBFloat16, kFloat32, kFloat8E4M3Fn, kFloat8E5M2,
                    kFloat64}) {
    for (SimdLevel level : Levels()) {
      const CastPath path = *CastPath::Find(src, dst, level);
      const size_t most = std::min<size_t>(sources.size() / src.itemsize(), 135);
      const Bytes whole = RunAt(path, sources, src, dst, most);
      for (size_t n = 0; n <= most; n += n < 70 ? 1 : 5) {
        const Bytes part = RunAt(path, sources, src, dst, n);
        ASSERT_EQ(part, Bytes(whole.begin(), whole.begin() + n * dst.itemsize()))
            << src << " to " << dst << ", " << n;
      }
    }
  }
}

TEST(LargeCastTest, WhatGoesPastTheCacheIsWrittenWholeWhereverItStarts) {
  const std::pair<DType, DType> pairs[] = {
      {kFloat32, kBFloat16}, {kUInt8, kFloat32}, {kInt16, kFloat64}, {kInt8, kComplex128}};
  for (auto [from, to] : pairs) {
    const size_t n = StreamFrom().rows * 2 / (from.itemsize() + to.itemsize()) + 11;
    Bytes src(n * from.itemsize());
    for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<unsigned char>(i * 7 >> 3);
    const CastPath path = *CastPath::Find(from, to);
    ASSERT_TRUE(path.IsPastCache(n));
    Bytes expected(n * to.itemsize());
    for (size_t i = 0; i < n; i += 1000) {
      path.Run(&src[i * from.itemsize()], &expected[i * to.itemsize()],
               std::min<size_t>(n - i, 1000));
    }
    for (size_t offset : {1, 2, 8, 63, 64}) {
      Bytes room(offset + expected.size() + 1, 0xa5);
      path.Run(src.data(), room.data() + offset, n);
      EXPECT_EQ(room[offset - 1], 0xa5);
      EXPECT_EQ(room.back(), 0xa5);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), room.begin() + offset))
          << from << " to " << to << " at " << offset;
    }
  }
}

std::vector<DType> RealTypes() {
  std::vector<DType> types;
  for (DType t : kAllDTypes) {
    if (IsReal(t)) types.push_back(t);
  }
  return types;
}
INSTANTIATE_TEST_SUITE_P(AllTypes, CastPathTest, testing::ValuesIn(RealTypes()),
                         [](const auto& info) { return info.param.ToString(); });

template <typename T>
std::vector<T> Cast(DType src, DType dst, const auto& values) {
  std::vector<T> result(values.size());
  CastPath::Find(src, dst)->Run(values.data(), result.data(), values.size());
  return result;
}

TEST(ComplexCastTest, PartsAreCastAndRealNumbersGetAPartOfZero) {
  using C = std::complex<float>;
  using Z = std::complex<double>;
  const std::vector<C> numbers = {{1.5f, -2.0f}, {0.0f, 3.0f}, {0.0f, 0.0f}};
  EXPECT_EQ((Cast<Z>(kComplex64, kComplex128, numbers)),
            (std::vector<Z>{{1.5, -2.0}, {0.0, 3.0}, {0.0, 0.0}}));
  EXPECT_EQ((Cast<C>(kInt16, kComplex64, std::vector<int16_t>{-3, 7})),
            (std::vector<C>{{-3.0f, 0.0f}, {7.0f, 0.0f}}));
  EXPECT_EQ((Cast<C>(kFloat32, kComplex64, std::vector<float>{0.5f})), (std::vector<C>{{0.5f, 0}}));
  EXPECT_EQ((Cast<char>(kComplex64, kBool, numbers)), (std::vector<char>{1, 1, 0}));
  const auto halves = Cast<uint32_t>(kComplex64, kComplex32, numbers);
  EXPECT_EQ(halves, (std::vector<uint32_t>{0xc0003e00, 0x42000000, 0}));
  EXPECT_EQ((Cast<C>(kComplex32, kComplex64, halves)), numbers);
  EXPECT_EQ((Cast<char>(kComplex32, kBool, halves)), (std::vector<char>{1, 1, 0}));
  const auto brains = Cast<uint32_t>(kComplex64, kBComplex32, numbers);
  EXPECT_EQ(brains, (std::vector<uint32_t>{0xc0003fc0, 0x40400000, 0}));
  EXPECT_EQ((Cast<C>(kBComplex32, kComplex64, brains)), numbers);
  EXPECT_EQ((Cast<uint32_t>(kBComplex32, kComplex32, brains)), halves);
  EXPECT_EQ((Cast<char>(kBComplex32, kBool, brains)), (std::vector<char>{1, 1, 0}));
  EXPECT_EQ((Cast<uint32_t>(kInt16, kBComplex32, std::vector<int16_t>{-3})),
            (std::vector<uint32_t>{0x0000c040}));
}

TEST(CastPathFindTest, ThereIsNoCastThatLosesAPartNorOneOfHandlesOrLanes) {
  for (DType real : RealTypes()) {
    EXPECT_EQ(CastPath::Find(kComplex64, real).has_value(), real == kBool) << real;
    EXPECT_FALSE(CastPath::Find(kHandle, real).has_value());
    EXPECT_FALSE(CastPath::Find(real, kHandle).has_value());
    EXPECT_TRUE(CastPath::Find(real, kComplex64).has_value());
  }
  EXPECT_FALSE(CastPath::Find(kFloat32, {TypeKind::kFloat, 16, 2}).has_value());
}

TEST(CastPathFindTest, CommonCastsTakeOneStep) {
  for (DType narrow : {kFloat16, kBFloat16, kFloat8E4M3Fn, kFloat8E5M2, kFloat64, kInt8, kUInt8}) {
    EXPECT_EQ(CastPath::Find(kFloat32, narrow)->num_steps(), 1) << narrow;
    EXPECT_EQ(CastPath::Find(narrow, kFloat32)->num_steps(), 1) << narrow;
  }
}

TEST(CastStepTest, MoreThanAvx512GoesByTheLoopsOfAvx512) {
  constexpr SimdLevel kLess = SimdLevel::kAvx512, kMore = SimdLevel::kAvx512Vbmi;
  for (DType src : RealTypes()) {
    EXPECT_EQ(WidenStep(src, kMore), WidenStep(src, kLess)) << src;
    EXPECT_EQ(NarrowStep(src, kMore), NarrowStep(src, kLess)) << src;
    for (DType dst : RealTypes())
      EXPECT_EQ(NativeStep(src, dst, kMore), NativeStep(src, dst, kLess));
  }
}

TEST(NanTest, WhatANanSaysIsKeptByTheWiderFormats) {
  for (SimdLevel level : Levels()) {
    // At least eight, so that vectors are used.
    const std::vector<uint32_t> nans(40, 0xffc54321), signalling(40, 0x7f800001);
    std::vector<uint16_t> code(40);
    CastPath::Find(kFloat32, kFloat16, level)->Run(nans.data(), code.data(), 40);
    EXPECT_EQ(code, std::vector<uint16_t>(40, 0xfe2a));
    CastPath::Find(kFloat32, kFloat16, level)->Run(signalling.data(), code.data(), 40);
    EXPECT_EQ(code, std::vector<uint16_t>(40, 0x7e00));
    CastPath::Find(kFloat32, kBFloat16, level)->Run(nans.data(), code.data(), 40);
    EXPECT_EQ(code, std::vector<uint16_t>(40, 0xffc0));
    code.assign(40, 0xfc01);
    std::vector<uint32_t> wide(40);
    CastPath::Find(kFloat16, kFloat32, level)->Run(code.data(), wide.data(), 40);
    EXPECT_EQ(wide, std::vector<uint32_t>(40, 0xffc02000));
    code.assign(40, 0x7f81);
    CastPath::Find(kBFloat16, kFloat32, level)->Run(code.data(), wide.data(), 40);
    EXPECT_EQ(wide, std::vector<uint32_t>(40, 0x7f810000));
  }
}

}  // namespace
}  // namespace dovetail
