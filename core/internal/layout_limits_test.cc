// Sizes, strides and bytes near the limits of 64 bits, compared with wider arithmetic. The fast
// paths of Layout and BytesOfExtent are for small numbers only. These tests check that they refuse
// all others.

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using Wide = __int128;
constexpr Wide kHuge = Wide{1} << 100;  // stands for all larger numbers

Wide Capped(Wide x) { return std::clamp(x, -kHuge, kHuge); }
Wide Times(Wide a, Wide b) {
  Wide product;
  const bool too_large = __builtin_mul_overflow(a, b, &product);
  return too_large ? ((a < 0) == (b < 0) ? kHuge : -kHuge) : Capped(product);
}
bool Fits(Wide x) { return x >= INT64_MIN && x <= INT64_MAX; }

class LayoutLimits : public testing::TestWithParam<unsigned> {
 protected:
  // A small number, or a power of two or its neighbour. Of either sign if `is_signed`.
  int64_t Number(bool is_signed) {
    const auto near = static_cast<int64_t>(random() % 3) - 1;
    int64_t number = static_cast<int64_t>(random() % 4);
    if (random() % 3 == 0) number = std::max<int64_t>((int64_t{1} << random() % 63) + near, 0);
    if (random() % 40 == 0) number = INT64_MAX;
    return is_signed && random() % 4 == 0 ? -number - static_cast<int64_t>(random() % 2) : number;
  }

  std::mt19937_64 random{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Seeds, LayoutLimits, testing::Range(0u, 4u));

TEST_P(LayoutLimits, AreThoseOfExactArithmetic) {
  int fitting = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto rank = static_cast<int64_t>(random() % 9);
    std::vector<int64_t> shape, strides;
    for (int64_t i = 0; i < rank; ++i) {
      shape.push_back(Number(random() % 50 == 0));
      strides.push_back(Number(true));
    }
    const bool row_major = random() % 2 == 0;

    Wide product = 1, lowest = 0, highest = 0;
    bool empty = false, negative = false, fits = true;
    for (int64_t i = rank - 1; i >= 0; --i) {
      empty |= shape[i] == 0;
      negative |= shape[i] < 0;
      if (shape[i] <= 1) continue;
      const Wide span = Times(Wide{shape[i]} - 1, row_major ? product : strides[i]);
      (span > 0 ? highest : lowest) = Capped((span > 0 ? highest : lowest) + span);
      product = Times(product, shape[i]);
      fits &= Fits(product);
    }
    fits &= !negative && (empty || (Fits(lowest) && Fits(highest)));
    ++(fits ? fitting : refused);

    Layout layout;
    Extent extent, measured;
    const int64_t* given = row_major ? nullptr : strides.data();
    ASSERT_EQ(internal_layout::TryAssign(&layout, rank, shape.data(), given, &extent), fits)
        << testing::PrintToString(shape) << testing::PrintToString(strides);
    const int64_t count = internal_layout::Measure(rank, shape.data(), given, &measured);
    ASSERT_EQ(count >= 0, fits);
    if (!fits) continue;
    ASSERT_EQ(Wide{count}, empty ? 0 : product);
    ASSERT_EQ(layout.num_elements(), count);
    ASSERT_EQ(extent, measured);
    const Extent expected =
        empty ? Extent{} : Extent{static_cast<int64_t>(lowest), static_cast<int64_t>(highest)};
    ASSERT_EQ(extent, expected) << layout;
    ASSERT_EQ(layout.extent(), expected) << layout;
  }
  EXPECT_GT(fitting, 1000);
  EXPECT_GT(refused, 1000);
}

TEST_P(LayoutLimits, OfBytesAreThoseOfExactArithmetic) {
  int fitting = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    DType dtype = kAllDTypes[random() % std::size(kAllDTypes)];
    if (random() % 8 == 0) dtype.lanes = static_cast<uint16_t>(1 + random() % 65535);
    const Packing packing = random() % 2 == 0 ? Packing::kPacked : Packing::kPadded;
    const Extent extent{-Number(false), Number(false)};
    const Wide bits = StepBits(dtype, packing);
    // The position of a packed element in bits must fit, too.
    const Wide unit = bits % 8 == 0 ? 8 : 1;
    const Wide begin = extent.lowest * bits, end = extent.highest * bits + bits;
    const Wide first_byte = begin >> 3, last_byte = (end + 7) >> 3;
    const bool fits = Fits(begin / unit) && Fits((end + (unit == 1 ? 7 : 0)) / unit) &&
                      Fits(last_byte - first_byte);
    ++(fits ? fitting : refused);
    ByteRange range;
    ASSERT_EQ(BytesOfExtent(extent, dtype, packing, &range), fits)
        << extent.lowest << " to " << extent.highest << " of " << dtype;
    if (!fits) continue;
    ASSERT_EQ(Wide{range.begin}, first_byte) << extent.lowest << " of " << dtype;
    ASSERT_EQ(Wide{range.end}, last_byte) << extent.highest << " of " << dtype;
  }
  EXPECT_GT(fitting, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace dovetail
