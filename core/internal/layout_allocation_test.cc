// Layouts of high rank when allocations fail.

#include <vector>

#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/testing/failing_new.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

const Layout kLarge = *Layout::Contiguous(std::vector<int64_t>(40, 1));

TEST(LayoutAllocation, AFailedCopyLeavesTheTargetAsItWas) {
  for (int before : {0, 6, 40}) {
    const Layout start = *Layout::Contiguous(std::vector<int64_t>(before, 1));
    const int64_t live = LiveBlocks();
    Layout target = start;
    const int failures = ForEachAllocationFailure(
        [&] { target = kLarge; }, [&] { EXPECT_TRUE(target == start || target == kLarge); });
    EXPECT_GE(failures, 1);
    EXPECT_EQ(target, kLarge);
    target = Layout();
    EXPECT_EQ(LiveBlocks(), live);
  }
}

TEST(LayoutAllocation, AFailedAssignLeavesRank0) {
  const std::vector<int64_t> shape(40, 1);
  const int64_t live = LiveBlocks();
  Layout target;
  int rank = 0;
  const int failures = ForEachAllocationFailure(
      [&] {
        rank = 0;
        EXPECT_TRUE(internal_layout::Assign(&target, 40, shape.data(), nullptr).ok());
        EXPECT_TRUE(internal_layout::Assign(&target, 20, shape.data(), nullptr).ok());
        rank = 20;
      },
      [&] { EXPECT_EQ(target.rank(), rank); });
  EXPECT_EQ(failures, 2);
  target = Layout();
  EXPECT_EQ(LiveBlocks(), live);
}

}  // namespace
}  // namespace dovetail
