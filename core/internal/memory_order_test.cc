#include "dovetail/core/internal/memory_order.h"

#include <memory>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;

class MemoryOrderTest : public testing::Test {
 protected:
  FakeLog log;
  ScopedBackendOverride fake{
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCpu}, &log)};

  // The strides of a new tensor in the given order, like a tensor of this shape and these strides.
  static std::vector<int64_t> Strides(MemoryOrder order, std::vector<int64_t> shape,
                                      std::vector<int64_t> strides) {
    const Tensor made =
        *EmptyInOrder(*Layout::Strided(shape, strides), order, kFloat32, Device::Cpu());
    EXPECT_EQ(made.shape(), absl::MakeConstSpan(shape));
    EXPECT_FALSE(made.is_read_only());
    return {made.strides().begin(), made.strides().end()};
  }
};

TEST_F(MemoryOrderTest, RowMajorAndColumnMajorIgnoreTheOtherTensor) {
  EXPECT_THAT(Strides(MemoryOrder::kC, {2, 3, 4}, {1, 2, 6}), ElementsAre(12, 4, 1));
  EXPECT_THAT(Strides(MemoryOrder::kF, {2, 3, 4}, {12, 4, 1}), ElementsAre(1, 2, 6));
}

TEST_F(MemoryOrderTest, OrderAIsColumnMajorOnlyIfTheOtherTensorIs) {
  EXPECT_THAT(Strides(MemoryOrder::kA, {2, 3}, {1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(Strides(MemoryOrder::kA, {2, 3}, {3, 1}), ElementsAre(3, 1));
  EXPECT_THAT(Strides(MemoryOrder::kA, {2, 3}, {2, 4}), ElementsAre(3, 1));
  EXPECT_THAT(Strides(MemoryOrder::kA, {1, 3}, {7, 1}), ElementsAre(3, 1));
}

TEST_F(MemoryOrderTest, KeepsTheOrderAndLeavesNoGaps) {
  EXPECT_THAT(Strides(MemoryOrder::kK, {2, 3, 4}, {4, 80, 1}), ElementsAre(4, 8, 1));
  EXPECT_THAT(Strides(MemoryOrder::kK, {2, 3, 4}, {-1, 20, -3}), ElementsAre(1, 8, 2));
  EXPECT_THAT(Strides(MemoryOrder::kK, {2, 3}, {6, 2}), ElementsAre(3, 1));
  EXPECT_THAT(Strides(MemoryOrder::kK, {}, {}), ElementsAre());
}

TEST_F(MemoryOrderTest, DimensionsOfSizeOneChangeNothing) {
  const std::vector<int64_t> strides = Strides(MemoryOrder::kK, {2, 1, 3}, {1, 1000, 2});
  EXPECT_EQ(strides[0], 1);
  EXPECT_EQ(strides[2], 2);
}

TEST_F(MemoryOrderTest, ALayoutWithoutGapsIsInItsOrder) {
  const auto in = [](MemoryOrder order, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return IsInOrder(*Layout::Strided(shape, strides), order);
  };
  for (MemoryOrder order : {MemoryOrder::kC, MemoryOrder::kF, MemoryOrder::kA, MemoryOrder::kK}) {
    const bool is_kept = order == MemoryOrder::kK;
    EXPECT_EQ(in(order, {2, 3}, {3, 1}), is_kept || order != MemoryOrder::kF);
    EXPECT_EQ(in(order, {2, 3}, {1, 2}), is_kept || order != MemoryOrder::kC);
    EXPECT_EQ(in(order, {2, 3}, {4, 1}), is_kept);
    EXPECT_EQ(in(order, {2, 3}, {-3, 1}), is_kept);
    EXPECT_TRUE(in(order, {1, 3, 1}, {7, 1, 9})) << "strides of sizes of 1 mean nothing";
    EXPECT_TRUE(in(order, {2, 0, 3}, {5, 6, 7})) << "nor do those of no elements";
    EXPECT_TRUE(in(order, {}, {}));
  }
}

}  // namespace
}  // namespace dovetail
