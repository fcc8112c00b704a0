#include "dovetail/interop/buffer/strided.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> ByteStridesOf(const Layout& layout, int64_t itemsize) {
  std::vector<int64_t> strides(layout.rank());
  FillByteStrides(layout, itemsize, strides.data());
  return strides;
}

// Rule 60.
TEST(Strided, ATensorOverTheMemoryStartsAtElement0AndReachesDown) {
  std::array<int16_t, 6> values = {0, 1, 2, 3, 4, 5};
  const int64_t shape[] = {3}, strides[] = {-4};
  BufferLayout out;
  ASSERT_TRUE(
      DescribeStrided(
          {.data = &values[4], .dtype = kInt16, .rank = 1, .shape = shape, .strides = strides},
          &out)
          .ok());
  EXPECT_EQ(out.data, &values[0]);
  EXPECT_EQ(out.nbytes, 10u);
  int released = 0;
  {
    const Tensor t = AdoptBuffer(std::move(out), Device::Cpu(),
                                 {[](void* count) { ++*static_cast<int*>(count); }, &released});
    EXPECT_EQ(**t.data<int16_t>(), 4);
    EXPECT_EQ((*t.data<int16_t>())[2 * t.layout().stride(0)], 0);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Strided, MemoryBeyondTheAddressSpaceIsRefused) {
  const int64_t shape[] = {3}, up[] = {8}, down[] = {-8};
  BufferLayout out;
  StridedDescription high{.data = reinterpret_cast<void*>(UINTPTR_MAX - 15),
                          .dtype = kInt64,
                          .rank = 1,
                          .shape = shape,
                          .strides = up};
  EXPECT_THAT(DescribeStrided(high, &out).message(), HasSubstr("address space"));
  StridedDescription low{.data = reinterpret_cast<void*>(uintptr_t{8}),
                         .dtype = kInt64,
                         .rank = 1,
                         .shape = shape,
                         .strides = down};
  EXPECT_THAT(DescribeStrided(low, &out).message(), HasSubstr("address space"));
}

TEST(Strided, ByteStridesFollowTheLayout) {
  EXPECT_THAT(ByteStridesOf(*Layout::Strided({2, 3}, {-3, 2}), 4), ElementsAre(-12, 8));
}

TEST(Strided, ByteStridesThatMeanNothingAreThoseOfADenseTensor) {
  EXPECT_THAT(ByteStridesOf(*Layout::Strided({2, 1, 3}, {3, 77, 1}), 2), ElementsAre(6, 6, 2));
  EXPECT_THAT(ByteStridesOf(*Layout::Strided({2, 0}, {5, 9}), 8), ElementsAre(8, 8));
}

}  // namespace
}  // namespace dovetail
