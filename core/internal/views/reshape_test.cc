#include <string>
#include <vector>

#include "dovetail/core/internal/views/views.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Dims = std::vector<int64_t>;

absl::StatusOr<Layout> Reshaped(const Layout& layout, const Dims& shape) {
  LayoutView view;
  if (absl::Status s = Reshape(layout, shape, &view); !s.ok()) return s;
  EXPECT_EQ(view.offset, 0);
  return view.layout;
}

TEST(Reshape, DenseLayoutsTakeAnyShapeOfTheirSize) {
  const Layout layout = *Layout::Contiguous({3, 4});
  EXPECT_THAT(Reshaped(layout, {12})->strides(), ElementsAre(1));
  EXPECT_THAT(Reshaped(layout, {2, 1, 6})->strides(), ElementsAre(6, 6, 1));
  EXPECT_EQ(Reshaped(*Layout::Contiguous({1, 1}), {})->rank(), 0);
}

TEST(Reshape, MinusOneIsComputed) {
  const Layout layout = *Layout::Contiguous({3, 4});
  EXPECT_THAT(Reshaped(layout, {-1})->shape(), ElementsAre(12));
  EXPECT_THAT(Reshaped(layout, {2, -1})->shape(), ElementsAre(2, 6));
  EXPECT_THAT(Reshaped(*Layout::Contiguous({0, 4}), {-1, 4})->shape(), ElementsAre(0, 4));
  for (const Dims& shape : {Dims{5, -1}, {-1, -1}, {-2, 6}, {0, -1}, {-1, 0}}) {
    EXPECT_EQ(Reshaped(layout, shape).status().code(), absl::StatusCode::kInvalidArgument)
        << ShapeToString(shape);
  }
  EXPECT_EQ(Reshaped(*Layout::Contiguous({0}), {0, -1}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Reshape, AnotherNumberOfElementsIsRefusedWithBothShapes) {
  absl::StatusOr<Layout> result = Reshaped(*Layout::Contiguous({3, 4}), {5, 2});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("(3, 4), with 12 elements"));
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("(5, 2)"));
  EXPECT_FALSE(Reshaped(Layout(), {INT64_MAX, 2}).ok());
  EXPECT_FALSE(Reshaped(*Layout::Contiguous({0}), {0, INT64_MAX, 2}).ok());
}

TEST(Reshape, DimensionsSplitAndMergeWithoutACopyIfStridesAllow) {
  const Layout rows = *Layout::Strided({2, 3, 4}, {100, 4, 1});
  EXPECT_THAT(Reshaped(rows, {2, 12})->strides(), ElementsAre(100, 1));
  EXPECT_THAT(Reshaped(rows, {2, 2, 6})->strides(), ElementsAre(100, 6, 1));
  const Layout backwards = *Layout::Strided({6}, {-2});
  EXPECT_THAT(Reshaped(backwards, {2, 3})->strides(), ElementsAre(-6, -2));
  const Layout repeated = *Layout::Strided({6}, {0});
  EXPECT_THAT(Reshaped(repeated, {3, 2})->strides(), ElementsAre(0, 0));
}

TEST(Reshape, ShapesThatNeedACopyAreRefusedWithTheRemedy) {
  const Layout transposed = *Layout::Strided({4, 3}, {1, 4});
  absl::StatusOr<Layout> result = Reshaped(transposed, {12});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("Copy it first"));
}

}  // namespace
}  // namespace dovetail
