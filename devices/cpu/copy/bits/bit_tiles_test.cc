// Copies of many elements smaller than a byte, against the plainest ones: NaiveCopy, bit by bit.

#include "dovetail/devices/cpu/copy/bits/bit_tiles.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/devices/cpu/copy/bits/bit_runs.h"
#include "dovetail/devices/cpu/copy/strided_copy.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using Dims = std::vector<int64_t>;
using Bytes = std::vector<unsigned char>;
using Random = std::mt19937;

Bytes RandomBytes(int64_t count, Random* random) {
  Bytes bytes(count);
  for (unsigned char& b : bytes) b = static_cast<unsigned char>((*random)());
  return bytes;
}

int64_t Among(Random* random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>((*random)() % (high - low + 1));
}

// A view into bytes of its own: dimensions in any order, of any sign, rows of whole bytes or not,
// now and then with gaps.
struct Side {
  Bytes bytes;
  Dims strides;
  TensorView view;

  Side(const Dims& shape, DType dtype, Packing packing, Random* random) : strides(shape.size()) {
    Dims order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), *random);
    int64_t step = Among(random, 1, 8) == 1 ? 2 : 1, lowest = 0, highest = 0;
    for (const int64_t d : order) {
      strides[d] = Among(random, 1, 4) == 1 ? -step : step;
      (strides[d] < 0 ? lowest : highest) += (shape[d] - 1) * strides[d];
      step *= shape[d];
      if (Among(random, 1, 2) == 1) step = (step + 7) / 8 * 8;
    }
    const int64_t bits = StepBits(dtype, packing);
    const int64_t below = (-lowest * bits + 7) / 8;
    bytes = RandomBytes(below + (highest + 1) * bits / 8 + 1, random);
    view = {.data = bytes.data() + below,
            .dtype = dtype,
            .packing = packing,
            .shape = shape,
            .strides = strides};
  }
};

Dims RandomShape(Random* random) {
  switch (Among(random, 1, 4)) {
    case 1:
      return {Among(random, 1, 300), Among(random, 1, 300)};
    case 2:
      return {Among(random, 1, 20), Among(random, 1, 130), Among(random, 1, 30)};
    case 3:
      return {Among(random, 1, 20000)};
    default:
      return {Among(random, 1, 9), Among(random, 1, 9), Among(random, 1, 40), Among(random, 1, 9)};
  }
}

class BitTilesProperty : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, BitTilesProperty, testing::Range(0u, 8u));

TEST_P(BitTilesProperty, WritesTheSameBitsAsANaiveCopy) {
  Random random(GetParam());
  for (int round = 0; round < 60; ++round) {
    const DType dtype{TypeKind::kUInt, static_cast<uint8_t>(Among(&random, 1, 7)), 1};
    const Dims shape = RandomShape(&random);
    const bool pads_src = Among(&random, 1, 5) == 1;
    Side dst(shape, dtype, Packing::kPacked, &random);
    const Side src(shape, dtype, pads_src ? Packing::kPadded : Packing::kPacked, &random);
    const Bytes before = dst.bytes;
    ASSERT_TRUE(StridedCopy(dst.view, src.view));
    const Bytes got = dst.bytes;
    std::copy(before.begin(), before.end(), dst.bytes.begin());
    NaiveCopy(dst.view, src.view);
    ASSERT_EQ(got, dst.bytes) << dtype << " shape " << ShapeToString(shape) << " from "
                              << ShapeToString(src.strides) << " to " << ShapeToString(dst.strides);
  }
}

TEST(BitTiles, PaddedElementsAreClearedAbove) {
  Random random(1);
  const DType dtype{TypeKind::kUInt, 4, 1};
  const Dims shape = {150, 170};
  Side dst(shape, dtype, Packing::kPadded, &random);
  const Side src(shape, dtype, Packing::kPacked, &random);
  ASSERT_TRUE(StridedCopy(dst.view, src.view));
  auto* const at = static_cast<unsigned char*>(dst.view.data);
  for (int64_t i = 0; i < shape[0]; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      ASSERT_EQ(at[i * dst.strides[0] + j * dst.strides[1]] >> 4, 0) << i << " " << j;
    }
  }
}

TEST(BitTiles, SeveralThreadsWriteWhatOneWrites) {
  Random random(2);
  for (const int bits : {2, 4, 6}) {
    const DType dtype{TypeKind::kUInt, static_cast<uint8_t>(bits), 1};
    // Rows of whole bytes, which threads may share, and others, which they may not.
    for (const Dims& shape : {Dims{2304, 1600}, Dims{2301, 1603}, Dims{1203, 3, 1000}}) {
      Dims from(shape.size()), to(shape.size());
      int64_t elements = 1;
      for (size_t d = 0; d < shape.size(); ++d) {
        from[d] = elements;
        elements *= shape[d];
      }
      int64_t step = 1;
      for (size_t d = shape.size(); d-- > 0; step *= shape[d]) to[d] = step;
      Bytes src = RandomBytes(elements * bits / 8 + 1, &random);
      Bytes one(src.size()), several(src.size());
      const TensorView view{.data = src.data(), .dtype = dtype, .shape = shape, .strides = from};
      TensorView dst{.data = one.data(), .dtype = dtype, .shape = shape, .strides = to};
      ASSERT_TRUE(SetNumThreads(1).ok());
      ASSERT_TRUE(StridedCopy(dst, view));
      ASSERT_TRUE(SetNumThreads(3).ok());
      dst.data = several.data();
      ASSERT_TRUE(StridedCopy(dst, view));
      EXPECT_EQ(one, several) << bits << " " << ShapeToString(shape);
    }
  }
}

// The rows of one side are the columns of the other, and both begin with a byte: tiles of joined
// rows, their edges, and what is left over.
TEST(BitTiles, TransposesOfWholeBytesTouchNoOtherByte) {
  const GuardedMemory src_memory(200'000), dst_memory(200'000);
  for (const int bits : {1, 2, 4}) {
    for (const int64_t rows : {8, 16, 33, 257, 600}) {
      for (const int64_t columns : {8, 31, 192, 200, 401}) {
        const DType dtype{TypeKind::kUInt, static_cast<uint8_t>(bits), 1};
        const int64_t per_byte = 8 / bits;
        const int64_t src_row = (columns + per_byte - 1) / per_byte,
                      dst_row = (rows + per_byte - 1) / per_byte;
        for (const bool backwards : {false, true}) {
          auto* const from = reinterpret_cast<unsigned char*>(src_memory.At(true, rows * src_row));
          auto* const to = reinterpret_cast<unsigned char*>(dst_memory.At(true, columns * dst_row));
          for (int64_t i = 0; i < rows * src_row; ++i) from[i] = static_cast<unsigned char>(i * 37);
          std::fill(to, to + columns * dst_row, 0xff);
          const int64_t first = backwards ? (rows - 1) * src_row : 0;
          const Dims shape = {columns, rows}, to_strides = {dst_row * per_byte, 1},
                     from_strides = {1, (backwards ? -1 : 1) * src_row * per_byte};
          const TensorView src{
              .data = from + first, .dtype = dtype, .shape = shape, .strides = from_strides};
          const TensorView dst{.data = to, .dtype = dtype, .shape = shape, .strides = to_strides};
          ASSERT_TRUE(StridedCopy(dst, src));
          const Bytes got(to, to + columns * dst_row);
          std::fill(to, to + columns * dst_row, 0xff);
          NaiveCopy(dst, src);
          ASSERT_EQ(got, Bytes(to, to + columns * dst_row))
              << bits << " bits, " << rows << " x " << columns << (backwards ? " backwards" : "");
        }
      }
    }
  }
}

TEST(BitRuns, TouchNoByteWithoutAnElement) {
  const GuardedMemory src_memory(200), dst_memory(200);
  for (int bits = 1; bits <= 7; ++bits) {
    for (const int64_t count : {1, 2, 7, 8, 9, 15, 16, 17, 64, 100}) {
      for (int shift = 0; shift < 8; ++shift) {
        for (const bool end : {false, true}) {
          const int64_t bytes = (shift + count * bits + 7) / 8;
          auto* const src = reinterpret_cast<unsigned char*>(src_memory.At(end, bytes));
          auto* const dst = reinterpret_cast<unsigned char*>(dst_memory.At(end, bytes));
          for (int64_t i = 0; i < bytes; ++i) src[i] = static_cast<unsigned char>(37 * i + 11);
          Bytes there(count), back(count);
          cpu::UnpackRun({src, shift, bits, bits}, count, there.data());
          cpu::PackRun(there.data(), count, {dst, shift, bits, bits}, 0);
          cpu::UnpackRun({dst, shift, bits, bits}, count, back.data());
          EXPECT_EQ(there, back) << bits << " bits, " << count << " from bit " << shift;
        }
      }
    }
  }
}

}  // namespace
}  // namespace dovetail
