// Random copies against the plainest one there is: NaiveCopy of core/testing, bit by bit.

#include "dovetail/devices/cpu/copy/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <random>
#include <vector>

#include "dovetail/core/layout.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/few.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;

using Dims = std::vector<int64_t>;
using Bytes = std::vector<unsigned char>;

// A layout without overlaps: the strides of a permuted dense tensor with gaps, each with a sign.
// `repeat` also gives strides of 0. Returns the offsets of the lowest and highest element.
struct RandomLayout {
  Dims strides;
  int64_t lowest = 0;
  int64_t highest = 0;

  RandomLayout(const Dims& shape, bool repeat, std::mt19937* random) : strides(shape.size()) {
    Dims order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    if ((*random)() % 2 == 0) std::shuffle(order.begin(), order.end(), *random);
    int64_t step = 1;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      step *= 1 + ((*random)() % 4 == 0 ? (*random)() % 3 : 0);
      int64_t& stride = strides[*it];
      stride = (*random)() % 4 == 0 ? -step : step;
      if (repeat && (*random)() % 6 == 0) stride = 0;
      if (shape[*it] == 1) stride = (*random)() % 2 == 0 ? INT64_MAX : INT64_MIN;
      if (shape[*it] > 1) (stride < 0 ? lowest : highest) += (shape[*it] - 1) * stride;
      step *= std::max<int64_t>(shape[*it], 1);
    }
  }
};

// Memory around a tensor, with an edge on both sides that no copy may touch.
struct Buffer {
  static constexpr int64_t kEdge = 16;
  Bytes bytes;
  TensorView view;

  Buffer(const Dims& shape, const RandomLayout& layout, DType dtype, Packing packing,
         int64_t misalignment, std::mt19937* random) {
    const int64_t step = StepBits(dtype, packing);
    const int64_t below = (-layout.lowest * step + 7) / 8;
    const int64_t above = (layout.highest * step + step + 7) / 8;
    bytes.resize(2 * kEdge + misalignment + below + above);
    for (unsigned char& b : bytes) b = static_cast<unsigned char>((*random)());
    view = {.data = bytes.data() + kEdge + misalignment + below,
            .dtype = dtype,
            .packing = packing,
            .shape = shape,
            .strides = layout.strides};
  }
};

class StridedCopyProperty : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, StridedCopyProperty, testing::Range(0u, 8u));

TEST_P(StridedCopyProperty, WritesTheSameBytesAsANaiveLoop) {
  std::mt19937 random(GetParam());
  std::vector<DType> types(std::begin(kAllDTypes), std::end(kAllDTypes));
  types.push_back({TypeKind::kFloat, 32, 3});  // 12 bytes: no size of its own in the code
  types.push_back({TypeKind::kFloat4E2M1Fn, 4, 2});
  types.push_back({TypeKind::kFloat6E2M3Fn, 6, 2});
  for (int round = 0; round < 1500; ++round) {
    Dims shape;
    for (unsigned rank = random() % 8; rank > 0; --rank) {
      shape.push_back(random() % 25 == 0 ? 0 : 1 + random() % (shape.size() > 3 ? 2 : 5));
    }
    if (round % 5 == 0) {  // up to twice as many as are copied without a plan
      const int64_t rows = 1 + random() % (2 * cpu::kFewInRows);
      const auto columns = static_cast<int64_t>(1 + random() % (2 * cpu::kFewInRows / rows));
      shape = random() % 2 == 0 ? Dims{rows, columns} : Dims{columns, rows};
    }
    const DType dtype = types[random() % types.size()];
    const RandomLayout to(shape, false, &random), from(shape, true, &random);
    const auto packing = [&] { return random() % 3 == 0 ? Packing::kPadded : Packing::kPacked; };
    // Packed elements that are written must not share bytes in ways that the layouts do not say.
    Buffer dst(shape, to, dtype, packing(), random() % 4, &random);
    Buffer src(shape, from, dtype, packing(), random() % 4, &random);
    if (dtype.is_sub_byte() && src.view.packing == Packing::kPadded &&
        dst.view.packing == Packing::kPadded) {
      continue;  // whole bytes are copied, with what pads them
    }
    const Bytes before = dst.bytes;
    StridedCopy(dst.view, src.view);
    const Bytes got = dst.bytes;
    dst.bytes = before;
    NaiveCopy(dst.view, src.view);
    if (dtype.is_sub_byte() && dst.view.packing == Packing::kPadded) {
      continue;  // its padding is cleared: PaddingIsCleared looks at that
    }
    ASSERT_EQ(got, dst.bytes) << dtype << " shape " << ShapeToString(shape) << " from "
                              << ShapeToString(from.strides) << " to " << ShapeToString(to.strides);
  }
}

TEST(StridedCopy, PaddingIsCleared) {
  const Dims shape = {3}, strides = {1};
  unsigned char packed[2] = {0xba, 0xfd}, padded[3] = {0xff, 0xff, 0xff};
  StridedCopy({.data = padded,
               .dtype = kUInt4,
               .packing = Packing::kPadded,
               .shape = shape,
               .strides = strides},
              {.data = packed, .dtype = kUInt4, .shape = shape, .strides = strides});
  EXPECT_THAT(padded, ElementsAre(0x0a, 0x0b, 0x0d));
}

// Packed elements of every width in rows that end within a byte: whole bytes go as bytes, the rest
// bit by bit, and the bits beside them stay.
TEST(StridedCopy, PackedRowsFallOnWholeBytesAsFarAsTheyCan) {
  std::mt19937 random(5);
  for (DType dtype : {kUInt4, DType{TypeKind::kFloat6E2M3Fn, 6, 1}, DType{TypeKind::kUInt, 2, 1},
                      DType{TypeKind::kFloat4E2M1Fn, 4, 3}}) {
    for (int64_t n : {1, 2, 3, 7, 8, 64, 101, 1000}) {
      const Dims shape = {3, n}, padded = {(n + 11) / 4 * 4, 1}, dense = {(n + 3) / 4 * 4, 1};
      const int64_t bits = dtype.element_bits();
      Bytes from((3 * padded[0] * bits + 7) / 8), to((3 * dense[0] * bits + 7) / 8);
      for (unsigned char& b : from) b = static_cast<unsigned char>(random());
      for (unsigned char& b : to) b = static_cast<unsigned char>(random());
      Bytes expected = to;
      const TensorView src{.data = from.data(), .dtype = dtype, .shape = shape, .strides = padded};
      TensorView dst{.data = expected.data(), .dtype = dtype, .shape = shape, .strides = dense};
      NaiveCopy(dst, src);
      dst.data = to.data();
      StridedCopy(dst, src);
      EXPECT_EQ(to, expected) << dtype << " n " << n;
    }
  }
}

TEST(StridedCopy, OnePlanServesManyCopies) {
  const Dims shape = {30, 40}, transposed = {1, 30}, dense = {40, 1};
  std::vector<int32_t> from(1200), to(1200);
  TensorView src{.data = from.data(), .dtype = kInt32, .shape = shape, .strides = transposed};
  TensorView dst{.data = to.data(), .dtype = kInt32, .shape = shape, .strides = dense};
  cpu::CopyPlan plan;
  ASSERT_TRUE(PlanStridedCopy(dst, src, &plan));
  for (int round = 0; round < 2; ++round) {
    std::iota(from.begin(), from.end(), 1000 * round);
    cpu::Execute(plan, to.data(), from.data());
    EXPECT_EQ(to[1], 1000 * round + 30);
    EXPECT_EQ(to[40], 1000 * round + 1);
    EXPECT_EQ(to[1199], 1000 * round + 1199);
  }
}

TEST(StridedCopy, ElementsThatShareBytesHaveNoPlan) {
  const Dims shape = {8}, strides = {1};
  const TensorView view{.dtype = kUInt4, .shape = shape, .strides = strides};
  cpu::CopyPlan plan;
  EXPECT_FALSE(PlanStridedCopy(view, view, &plan));
}

TEST(StridedCopy, ARepeatedElementIsWrittenEverywhere) {
  const Dims shape = {2, 3}, dense = {3, 1}, repeated = {0, 0};
  const int32_t seven = 7;
  int32_t out[6] = {};
  StridedCopy(
      {.data = out, .dtype = kInt32, .shape = shape, .strides = dense},
      {.data = const_cast<int32_t*>(&seven), .dtype = kInt32, .shape = shape, .strides = repeated});
  EXPECT_THAT(out, testing::Each(7));
}

TEST(StridedCopy, NoElementsTouchNothing) {
  const Dims shape = {3, 0}, strides = {INT64_MAX, INT64_MIN};
  for (DType dtype : {kInt32, kUInt4}) {
    const TensorView nothing{.data = nullptr, .dtype = dtype, .shape = shape, .strides = strides};
    StridedCopy(nothing, nothing);
  }
}

}  // namespace
}  // namespace dovetail
