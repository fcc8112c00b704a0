#include "dovetail/core/layout.h"

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/layout_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

using Dims = std::vector<int64_t>;

Layout Strided(const Dims& shape, const Dims& strides) {
  absl::StatusOr<Layout> layout = Layout::Strided(shape, strides);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return *layout;
}

std::string ContiguousRefusal(const Dims& shape) {
  absl::StatusOr<Layout> layout = Layout::Contiguous(shape);
  EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(layout.status().message());
}

std::string StridedRefusal(const Dims& shape, const Dims& strides) {
  absl::StatusOr<Layout> layout = Layout::Strided(shape, strides);
  EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(layout.status().message());
}

TEST(Layout, TheDefaultIsOneElementOfRank0) {
  Layout layout;
  EXPECT_EQ(layout.rank(), 0);
  EXPECT_EQ(layout.num_elements(), 1);
  EXPECT_TRUE(layout.is_contiguous());
  EXPECT_EQ(layout.extent(), (Extent{0, 0}));
  EXPECT_EQ(layout, *Layout::Contiguous({}));
}

TEST(Layout, ContiguousIsRowMajor) {
  const Layout layout = *Layout::Contiguous({2, 3, 4});
  EXPECT_THAT(layout.shape(), ElementsAre(2, 3, 4));
  EXPECT_THAT(layout.strides(), ElementsAre(12, 4, 1));
  EXPECT_EQ(layout.num_elements(), 24);
  EXPECT_TRUE(layout.is_contiguous());
}

// Rule 13.
TEST(Layout, EmptyTensorIsContiguous) {
  for (const Dims& shape : {Dims{0}, Dims{2, 0, 3}, Dims{0, INT64_MAX}}) {
    EXPECT_TRUE(Layout::Contiguous(shape)->is_contiguous());
    const Layout strided = Strided(shape, Dims(shape.size(), INT64_MIN));
    EXPECT_TRUE(strided.is_contiguous());
    EXPECT_EQ(strided.num_elements(), 0);
    EXPECT_EQ(strided.extent(), (Extent{0, 0}));
    EXPECT_THAT(strided.strides(), ElementsAreArray(Dims(shape.size(), INT64_MIN)));
  }
}

TEST(Layout, ASizeOfZeroCountsAsOneInRowMajorStrides) {
  EXPECT_THAT(Layout::Contiguous({2, 0, 3})->strides(), ElementsAre(3, 3, 1));
}

// Rule 13.
TEST(Layout, StridesOfDimensionsOfOneMeanNothingAndAreKept) {
  const Layout layout = Strided({1, 3, 1}, {INT64_MAX, 1, INT64_MIN});
  EXPECT_TRUE(layout.is_contiguous());
  EXPECT_EQ(layout.extent(), (Extent{0, 2}));
  EXPECT_THAT(layout.strides(), ElementsAre(INT64_MAX, 1, INT64_MIN));
}

TEST(Layout, GapsAndOtherOrdersAreNotContiguous) {
  EXPECT_FALSE(Strided({2, 3}, {4, 1}).is_contiguous());
  EXPECT_FALSE(Strided({2, 3}, {1, 2}).is_contiguous());
  EXPECT_FALSE(Strided({3}, {-1}).is_contiguous());
  EXPECT_FALSE(Strided({3}, {0}).is_contiguous());
  EXPECT_TRUE(Strided({2, 3}, {3, 1}).is_contiguous());
}

TEST(Layout, ExtentReachesDownForNegativeStrides) {
  EXPECT_EQ(Strided({3, 4}, {-4, 1}).extent(), (Extent{-8, 3}));
  EXPECT_EQ(Strided({3, 4}, {0, -2}).extent(), (Extent{-6, 0}));
  EXPECT_EQ(Strided({5}, {0}).extent(), (Extent{0, 0}));
}

TEST(Layout, NegativeSizesAreRefused) {
  EXPECT_THAT(ContiguousRefusal({2, -1}), HasSubstr("(2, -1) has a negative size"));
  EXPECT_THAT(ContiguousRefusal({0, INT64_MIN}), HasSubstr("negative"));
  EXPECT_THAT(ContiguousRefusal(Dims(Layout::kMaxRank, -1)), HasSubstr("negative"));
}

TEST(Layout, OverflowingNumbersOfElementsAreRefused) {
  EXPECT_THAT(ContiguousRefusal({int64_t{1} << 32, int64_t{1} << 31}), HasSubstr("more elements"));
  EXPECT_TRUE(Layout::Contiguous({INT64_MAX}).ok());
  EXPECT_TRUE(Layout::Contiguous({int64_t{1} << 31, int64_t{1} << 31}).ok());
}

// The product of the nonzero sizes would overflow.
TEST(Layout, EmptyShapesMayNotOverflowEither) {
  EXPECT_THAT(ContiguousRefusal({INT64_MAX, 0, 2}), HasSubstr("more elements"));
}

TEST(Layout, OffsetsBeyond64BitsAreRefused) {
  EXPECT_THAT(StridedRefusal({3}, {INT64_MAX}), HasSubstr("beyond a 64-bit"));
  EXPECT_THAT(StridedRefusal({3}, {INT64_MIN}), HasSubstr("beyond a 64-bit"));
  EXPECT_THAT(StridedRefusal({2, 2}, {INT64_MAX, 1}), HasSubstr("beyond a 64-bit"));
  EXPECT_THAT(StridedRefusal({2, 2}, {INT64_MIN, -1}), HasSubstr("beyond a 64-bit"));
  EXPECT_EQ(Strided({2, 2}, {INT64_MIN, INT64_MAX}).extent(), (Extent{INT64_MIN, INT64_MAX}));
}

TEST(Layout, ShapeAndStridesHaveOneLength) {
  EXPECT_THAT(StridedRefusal({2, 3}, {1}), HasSubstr("differ in length"));
  EXPECT_THAT(StridedRefusal({}, {1}), HasSubstr("differ in length"));
}

TEST(Layout, PrintsAsPythonPrintsTuples) {
  EXPECT_EQ(ShapeToString({}), "()");
  EXPECT_EQ(ShapeToString({4}), "(4,)");
  EXPECT_EQ(ShapeToString({2, -1}), "(2, -1)");
  std::ostringstream os;
  os << *Layout::Contiguous({2, 3});
  EXPECT_EQ(os.str(), "shape (2, 3), strides (3, 1)");
}

// Ranks on both sides of the inline limit, and the largest rank.
class LayoutRank : public testing::TestWithParam<int> {
 protected:
  static Dims Shape(int rank, int64_t size) { return Dims(rank, size); }
  static Dims Strides(int rank) {
    Dims strides;
    for (int i = 0; i < rank; ++i) strides.push_back(i % 2 == 0 ? i : -i);
    return strides;
  }
};
INSTANTIATE_TEST_SUITE_P(All, LayoutRank, testing::Values(0, 1, 5, 6, 7, 8, 63, 64));

TEST_P(LayoutRank, CopiesAndMovesKeepEverything) {
  const int rank = GetParam();
  const Dims shape = Shape(rank, 1), strides = Strides(rank);
  const Layout original = Strided(shape, strides);
  for (int other_rank : {0, 6, 7, 64}) {
    Layout target = Strided(Shape(other_rank, 1), Strides(other_rank));
    target = original;
    EXPECT_EQ(target, original);
    Layout moved_to = Strided(Shape(other_rank, 1), Strides(other_rank));
    moved_to = std::move(target);
    EXPECT_THAT(moved_to.shape(), ElementsAreArray(shape));
    EXPECT_THAT(moved_to.strides(), ElementsAreArray(strides));
    EXPECT_EQ(moved_to.num_elements(), 1);
    target = original;  // a moved-from layout is assignable
    EXPECT_EQ(target, original);
  }
  Layout copy(original);
  EXPECT_EQ(copy, original);
  const Layout& alias = copy;
  copy = alias;
  EXPECT_EQ(copy, original);
  Layout moved(std::move(copy));
  EXPECT_EQ(moved, original);
}

TEST_P(LayoutRank, AssignReplacesALayoutOfAnyRank) {
  const int rank = GetParam();
  for (int before : {0, 6, 7, 64}) {
    Layout layout = Strided(Shape(before, 1), Strides(before));
    const Dims shape = Shape(rank, 1);
    ASSERT_TRUE(internal_layout::Assign(&layout, rank, shape.data(), nullptr).ok());
    EXPECT_THAT(layout.shape(), ElementsAreArray(shape));
    EXPECT_TRUE(layout.is_contiguous());
    const Dims bad(rank + 1, -1);
    EXPECT_FALSE(internal_layout::Assign(&layout, rank + 1, bad.data(), nullptr).ok());
    EXPECT_EQ(layout, Layout()) << "an error leaves rank 0";
  }
}

TEST(Layout, RanksBeyondTheLimitAreRefusedWithoutReading) {
  EXPECT_THAT(ContiguousRefusal(Dims(65, 1)), HasSubstr("0 to 64 dimensions, not 65"));
  Layout layout;
  const int64_t one = 1;
  for (int64_t rank : {int64_t{-1}, int64_t{1000000}, INT64_MIN, INT64_MAX}) {
    absl::Status status = internal_layout::Assign(&layout, rank, &one, &one);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(rank)));
  }
}

TEST(Layout, LayoutsOfDifferentRankOrStridesDiffer) {
  EXPECT_NE(*Layout::Contiguous({1}), *Layout::Contiguous({1, 1}));
  EXPECT_NE(Strided({2}, {1}), Strided({2}, {2}));
}

TEST(Layout, MeasureAgreesWithTryAssign) {
  const int64_t shape[] = {2, 3, 1}, strides[] = {-3, 1, 77}, negative[] = {2, -1};
  Extent extent, made;
  Layout layout;
  EXPECT_EQ(internal_layout::Measure(3, shape, strides, &extent), 6);
  ASSERT_TRUE(internal_layout::TryAssign(&layout, 3, shape, strides, &made));
  EXPECT_EQ(extent, made);
  EXPECT_EQ(extent, (Extent{-3, 2}));
  EXPECT_EQ(internal_layout::Measure(2, shape, nullptr, &extent), 6);
  EXPECT_EQ(extent, (Extent{0, 5}));
  EXPECT_EQ(internal_layout::Measure(0, nullptr, nullptr, &extent), 1);
  EXPECT_EQ(internal_layout::Measure(2, negative, nullptr, &extent), -1);
  for (int64_t rank : {int64_t{-1}, int64_t{Layout::kMaxRank} + 1, INT64_MAX}) {
    EXPECT_EQ(internal_layout::Measure(rank, shape, nullptr, &extent), -1) << rank;
  }
}

TEST(Layout, EqualLayoutsHashAlike) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Layout(), *Layout::Contiguous({2, 3}), *Layout::Strided({2, 3}, {3, 1}),
       *Layout::Strided({2, 3}, {1, 2}), *Layout::Contiguous({2, 3, 1}),
       *Layout::Contiguous({6})}));
}

// absl::StrCat and absl::StrFormat of later releases print through AbslStringify.
TEST(Layout, PrintsThroughAbslStringify) {
  struct Sink {
    std::string text;
    void Append(std::string_view more) { text += more; }
  } sink;
  AbslStringify(sink, *Layout::Contiguous({2}));
  AbslStringify(sink, kFloat32);
  AbslStringify(sink, Device::Cuda(1));
  EXPECT_EQ(sink.text, "shape (2,), strides (1,)float32cuda:1");
}

}  // namespace
}  // namespace dovetail
