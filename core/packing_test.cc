#include "dovetail/core/packing.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

constexpr DType kFloat4Pair{TypeKind::kFloat4E2M1Fn, 4, 2};
static_assert(StepBits(kFloat4E2M1Fn, Packing::kPacked) == 4);
static_assert(StepBits(kFloat4E2M1Fn, Packing::kPadded) == 8);
static_assert(StepBits(kFloat6E2M3Fn, Packing::kPacked) == 6);
static_assert(StepBits(kFloat4Pair, Packing::kPacked) == 8);
static_assert(StepBits(kFloat4Pair, Packing::kPadded) == 8);
static_assert(StepBits(kComplex128, Packing::kPadded) == 128);

// The bytes that a walk over the elements touches.
ByteRange Naive(const Layout& layout, DType dtype, Packing packing) {
  ByteRange range;
  if (layout.num_elements() == 0) return range;
  const int64_t step = StepBits(dtype, packing);
  const int64_t bits = dtype.element_bits();
  for (int64_t i = 0; i < layout.num_elements(); ++i) {
    int64_t rest = i, offset = 0;
    for (int d = layout.rank() - 1; d >= 0; --d) {
      offset += rest % layout.shape(d) * layout.stride(d);
      rest /= layout.shape(d);
    }
    range.begin = std::min(range.begin, (offset * step) >> 3);
    range.end = std::max(range.end, ((offset * step + bits - 1) >> 3) + 1);
  }
  return range;
}

TEST(Packing, TheBytesReachedAreThoseThatAWalkOverTheElementsTouches) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int64_t> shape, strides;
    for (unsigned rank = random() % 4; rank > 0; --rank) {
      shape.push_back(random() % 4);
      strides.push_back(static_cast<int64_t>(random() % 15) - 7);
    }
    const Layout layout = *Layout::Strided(shape, strides);
    const DType dtype = kAllDTypes[random() % std::size(kAllDTypes)];
    for (Packing packing : {Packing::kPacked, Packing::kPadded}) {
      ByteRange range;
      ASSERT_TRUE(BytesReached(layout, dtype, packing, &range).ok());
      const ByteRange expected = Naive(layout, dtype, packing);
      ASSERT_EQ(range.begin, expected.begin) << layout << " of " << dtype;
      ASSERT_EQ(range.end, expected.end) << layout << " of " << dtype;
    }
  }
}

// Rule 18.
TEST(Packing, PackedElementsTakeTheBytesOfAllTheirBitsTogether) {
  ByteRange range;
  ASSERT_TRUE(BytesReached(*Layout::Contiguous({3}), kFloat6E2M3Fn, Packing::kPacked, &range).ok());
  EXPECT_EQ(range.size(), 3);  // 18 bits
  ASSERT_TRUE(BytesReached(*Layout::Contiguous({4}), kFloat6E2M3Fn, Packing::kPacked, &range).ok());
  EXPECT_EQ(range.size(), 3);  // 24 bits
}

TEST(Packing, BytesBeyond64BitsAreRefused) {
  ByteRange range;
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 4, INT64_MIN / 4 - 1}) {
    const Layout layout = *Layout::Strided({2}, {stride});
    EXPECT_EQ(BytesReached(layout, kInt32, Packing::kPacked, &range).code(),
              absl::StatusCode::kInvalidArgument)
        << stride;
  }
  // Each end fits; their distance does not.
  const Layout wide = *Layout::Strided({2, 2}, {INT64_MAX / 4 - 1, INT64_MIN / 4});
  EXPECT_FALSE(BytesReached(wide, kInt32, Packing::kPacked, &range).ok());
  const Layout bits = *Layout::Strided({2}, {INT64_MAX / 4});
  EXPECT_FALSE(BytesReached(bits, kInt4, Packing::kPacked, &range).ok());
  EXPECT_TRUE(BytesReached(bits, kInt8, Packing::kPacked, &range).ok());
}

TEST(Packing, NoElementsReachNoBytesWhateverTheStrides) {
  ByteRange range{5, 6};
  const Layout empty = *Layout::Strided({0, 2}, {INT64_MAX, INT64_MIN});
  ASSERT_TRUE(BytesReached(empty, kComplex128, Packing::kPacked, &range).ok());
  EXPECT_EQ(range.begin, 0);
  EXPECT_EQ(range.end, 0);
}

}  // namespace
}  // namespace dovetail
