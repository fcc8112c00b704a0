#include "backend.h"

#include <cstring>

#include "dovetail/copy.h"
#include "dovetail/dovetail.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vendor {
namespace {

using dovetail::Device;
using dovetail::Tensor;

class VendorDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dovetail::RegisterDefaultBackends();
    ASSERT_TRUE(RegisterVendorBackend(dovetail::Registry::Global()).ok());
  }
};

TEST_F(VendorDevice, ElementsGoThereAndBackThroughAnyView) {
  const Tensor x = *Tensor::Empty({2, 3, 4}, dovetail::kInt32);
  for (int i = 0; i < 24; ++i) static_cast<int32_t*>(x.raw_data())[i] = i;
  const Tensor there = *dovetail::Copied(x, {.device = kDevice});
  const Tensor view = *there.Slice(2, {.start = 3, .stop = {}, .step = -2})->Transpose(0, 2);
  const Tensor back = *dovetail::Copied(view, {.device = Device::Cpu()});
  const Tensor expected =
      *dovetail::AsContiguous(*x.Slice(2, {.start = 3, .stop = {}, .step = -2})->Transpose(0, 2));
  ASSERT_EQ(back.shape(), expected.shape());
  EXPECT_EQ(std::memcmp(back.raw_data(), expected.raw_data(), back.nbytes()), 0);
}

TEST_F(VendorDevice, ADLPackTensorCarriesTheHandleAndTheOffsetOfAView) {
  const Tensor there = *Tensor::Empty({4}, dovetail::kFloat64, kDevice);
  auto out = dovetail::ToDLPack(*there.Slice(0, {.start = 1}));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)->dl_tensor.data, there.raw_data());
  EXPECT_EQ((*out)->dl_tensor.byte_offset, 8u);
}

TEST_F(VendorDevice, WhatIsNotThereIsSaid) {
  EXPECT_EQ(Tensor::Empty({1}, dovetail::kInt8, {dovetail::DeviceType::kExtDev, 1}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Tensor::Empty({int64_t{1} << 40}, dovetail::kInt8, kDevice).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace vendor
