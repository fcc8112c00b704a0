#include "dovetail/interop/dlpack/lend.h"

#include <cstdint>

#include "dovetail/core/layout.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

void Count(void* calls) { ++*static_cast<int*>(calls); }

struct Lender {
  float data[6];
  int64_t shape[2] = {2, 3}, strides[2] = {1, 2};
  int first = 0, second = 0;

  TensorView view() {
    return {.data = data,
            .device = Device::Cpu(),
            .dtype = kFloat32,
            .shape = shape,
            .strides = strides};
  }
};

// Rules 1, 11, 14.
TEST(Lend, SaysWhatTheViewSays) {
  Lender lender;
  UniqueDLPack out = LendDLPack(lender.view(), {&Count, &lender.first});
  const DLTensor& t = out->dl_tensor;
  EXPECT_EQ(out->version.major, DLPACK_MAJOR_VERSION);
  EXPECT_EQ(out->flags, 0);
  EXPECT_EQ(t.data, lender.data);
  EXPECT_EQ(t.byte_offset, 0);
  EXPECT_EQ(t.device.device_type, kDLCPU);
  EXPECT_EQ(t.dtype.code, kDLFloat);
  EXPECT_EQ(t.dtype.bits, 32);
  EXPECT_EQ(t.dtype.lanes, 1);
  ASSERT_EQ(t.ndim, 2);
  lender.shape[0] = lender.strides[0] = 99;  // the managed tensor has its own copies
  EXPECT_EQ(t.shape[0], 2);
  EXPECT_EQ(t.shape[1], 3);
  EXPECT_EQ(t.strides[0], 1);
  EXPECT_EQ(t.strides[1], 2);
}

TEST(Lend, ReadOnlyMemoryIsMarked) {
  Lender lender;
  TensorView view = lender.view();
  view.access = Access::kReadOnly;
  EXPECT_EQ(LendDLPack(view, {&Count, &lender.first})->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
}

TEST(Lend, PaddedElementsAreMarked) {
  Lender lender;
  TensorView view = lender.view();
  view.dtype = kInt4;
  EXPECT_EQ(LendDLPack(view, {&Count, &lender.first})->flags, 0) << "they are packed";
  view.packing = Packing::kPadded;
  EXPECT_EQ(LendDLPack(view, {&Count, &lender.first})->flags,
            DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
  view.access = Access::kReadOnly;
  EXPECT_EQ(LendDLPack(view, {&Count, &lender.first})->flags,
            DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED | DLPACK_FLAG_BITMASK_READ_ONLY);
}

TEST(Lend, NoElementsHaveNoData) {
  Lender lender;
  lender.shape[1] = 0;
  EXPECT_EQ(LendDLPack(lender.view(), {&Count, &lender.first})->dl_tensor.data, nullptr);
}

TEST(Lend, ANumberHasNoDimensions) {
  Lender lender;
  TensorView view = lender.view();
  view.shape = view.strides = {};
  UniqueDLPack out = LendDLPack(view, {&Count, &lender.first});
  EXPECT_EQ(out->dl_tensor.data, lender.data);
  EXPECT_EQ(out->dl_tensor.shape, nullptr);
  EXPECT_EQ(out->dl_tensor.strides, nullptr);
}

// Rule 27.
TEST(Lend, TheDeleterCallsTheLastReleaseOnce) {
  Lender lender;
  UniqueDLPack out = LendDLPack(lender.view(), {&Count, &lender.first});
  SetRelease(out.get(), {&Count, &lender.second});
  EXPECT_EQ(lender.second, 0);
  out.reset();
  EXPECT_EQ(lender.first, 0);
  EXPECT_EQ(lender.second, 1);
}

TEST(Lend, MoreDimensionsThanABlockHoldsAreLeftToATensor) {
  Lender lender;
  int64_t ones[Layout::kInlineRank + 1];
  for (int64_t& one : ones) one = 1;
  TensorView view = lender.view();
  view.shape = view.strides = ones;
  EXPECT_EQ(LendDLPack(view, {&Count, &lender.first}), nullptr);
  EXPECT_EQ(lender.first, 0);
  view.shape.remove_suffix(1);
  view.strides.remove_suffix(1);
  EXPECT_NE(LendDLPack(view, {&Count, &lender.first}), nullptr);
}

}  // namespace
}  // namespace dovetail
