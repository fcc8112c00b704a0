// Layouts of high rank while memory runs out.

#include <new>
#include <vector>

#include "dovetail/core/layout.h"
#include "dovetail/core/testing/failing_new.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

const Layout kLarge = *Layout::Contiguous(std::vector<int64_t>(40, 1));

TEST(LayoutAllocation, AFailedCopyLeavesTheTargetFitForUse) {
  for (int before : {0, 6, 40}) {
    const Layout start = *Layout::Contiguous(std::vector<int64_t>(before, 1));
    const int64_t live = LiveBlocks();
    auto body = [&] {
      Layout target;
      try {
        target = start;
        target = kLarge;
        EXPECT_EQ(target, kLarge);
      } catch (const std::bad_alloc&) {
        EXPECT_TRUE(target == start || target == Layout());
      }
      Layout again = std::move(target);
    };
    EXPECT_GE(ForEachAllocationFailure(body), 1);
    EXPECT_EQ(LiveBlocks(), live);
  }
}

TEST(LayoutAllocation, AFailedAssignLeavesRank0) {
  const std::vector<int64_t> shape(40, 1);
  const int64_t live = LiveBlocks();
  auto body = [&] {
    Layout target;
    try {
      EXPECT_TRUE(target.Assign(40, shape.data(), nullptr).ok());
      EXPECT_TRUE(target.Assign(20, shape.data(), nullptr).ok());
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(target, Layout());
    }
  };
  EXPECT_EQ(ForEachAllocationFailure(body), 2);
  EXPECT_EQ(LiveBlocks(), live);
}

}  // namespace
}  // namespace dovetail
