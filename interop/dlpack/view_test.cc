#include "dovetail/interop/dlpack/view.h"

#include <string>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/testing/foreign.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Rules 8, 56.
TEST(View, AForeignTensorIsBorrowedInPlace) {
  Foreign<DLManagedTensor> foreign;
  foreign.tensor().byte_offset = 4;
  TensorView view;
  ASSERT_TRUE(FromDLTensor(foreign.tensor(), &view).ok());
  EXPECT_EQ(view.data, &foreign.data[1]);
  EXPECT_EQ(view.byte_offset, 0);
  EXPECT_EQ(view.shape.data(), foreign.shape);
  EXPECT_EQ(view.strides.data(), foreign.strides);
  EXPECT_EQ(view.dtype, kFloat32);
  EXPECT_EQ(view.device, Device::Cpu());
}

TEST(View, AViewIsHadAsAValueToo) {
  Foreign<DLManagedTensor> foreign;
  const absl::StatusOr<TensorView> view = FromDLTensor(foreign.tensor());
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->data, foreign.data);
  foreign.tensor().ndim = -1;
  EXPECT_EQ(FromDLTensor(foreign.tensor()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(View, NegativeStridesKeepElementZero) {
  Foreign<DLManagedTensor> foreign;
  foreign.strides[0] = -3;
  foreign.tensor().data = &foreign.data[3];
  TensorView view;
  ASSERT_TRUE(FromDLTensor(foreign.tensor(), &view).ok());
  EXPECT_EQ(view.data, &foreign.data[3]);
}

TEST(View, StridesThatNobodyOwnsCannotBeBorrowed) {
  Foreign<DLManagedTensor> foreign;
  foreign.tensor().strides = nullptr;
  TensorView view;
  absl::Status status = FromDLTensor(foreign.tensor(), &view);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no strides"));
  foreign.tensor().ndim = 0;
  EXPECT_TRUE(FromDLTensor(foreign.tensor(), &view).ok());
  EXPECT_EQ(view.rank(), 0);
}

TEST(View, WhatIsNotValidIsRefused) {
  Foreign<DLManagedTensor> foreign;
  foreign.tensor().ndim = -1;
  TensorView view;
  EXPECT_EQ(FromDLTensor(foreign.tensor(), &view).code(), absl::StatusCode::kInvalidArgument);
}

// Rule 21.
TEST(View, OpaqueHandlesGoThereAndBackWithTheirOffsets) {
  Foreign<DLManagedTensor> foreign;
  foreign.tensor().device = {kDLMetal, 1};
  foreign.tensor().byte_offset = 640;
  TensorView view;
  ASSERT_TRUE(FromDLTensor(foreign.tensor(), &view).ok());
  EXPECT_EQ(view.data, foreign.data);
  EXPECT_EQ(view.byte_offset, 640);
  const DLTensor back = ToDLTensor(view);
  EXPECT_EQ(back.data, foreign.data);
  EXPECT_EQ(back.byte_offset, 640u);
  EXPECT_EQ(back.device.device_type, kDLMetal);
}

// Rules 8, 10, 12.
TEST(View, ATensorIsLentAsTheHeaderSays) {
  float data[6] = {};
  const Tensor t = *Tensor::Make(Storage::Adopt(data, sizeof data, Device::Cpu(), {}), 12, kFloat32,
                                 *Layout::Contiguous({1, 3}), {});
  const DLTensor d = ToDLTensor(t.view());
  EXPECT_EQ(d.data, &data[3]);
  EXPECT_EQ(d.byte_offset, 0u);
  EXPECT_EQ(d.shape, t.shape().data());
  EXPECT_EQ(d.strides, t.strides().data());
  const DLTensor empty = ToDLTensor(t.Slice(0, {.stop = 0})->view());
  EXPECT_EQ(empty.data, nullptr);
  const DLTensor scalar = ToDLTensor(t.Index({IndexItem::At(0), IndexItem::At(1)})->view());
  EXPECT_EQ(scalar.ndim, 0);
  EXPECT_EQ(scalar.shape, nullptr);
  EXPECT_EQ(scalar.strides, nullptr);
  EXPECT_EQ(scalar.data, &data[4]);
}

}  // namespace
}  // namespace dovetail
