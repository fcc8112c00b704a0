#include "dovetail/interop/eigen/tensor.h"

#include <memory>
#include <string>
#include <utility>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/testing/tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename StatusOrMap>
std::string ErrorOf(const StatusOrMap& map) {
  EXPECT_EQ(map.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(map.status().message());
}

TEST(AsTensorMap, SharesTheMemoryInRowMajorOrder) {
  const Tensor t = Iota({2, 3, 4});
  auto m = AsTensorMap<float, 3>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data(), t.raw_data());
  EXPECT_EQ(m->dimension(2), 4);
  EXPECT_EQ((*m)(1, 2, 3), 23);
  (*m)(0, 1, 0) = 40;
  EXPECT_EQ(**t.at<float>({0, 1, 0}), 40);
}

TEST(AsTensorMap, ATensorOfRankZeroHasOneElement) {
  const Tensor t = Iota({});
  const auto m = AsTensorMap<float, 0>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ((*m)(), 0);
}

TEST(AsTensorMap, AColumnMajorTypeTakesColumnMajorTensors) {
  const Tensor t = Iota({2, 3, 4});
  EXPECT_THAT(ErrorOf(AsTensorMap<Eigen::Tensor<float, 3>>(t)), HasSubstr("row-major"));
  const Tensor transposed = *t.Permute({2, 1, 0});
  const auto m = AsTensorMap<Eigen::Tensor<float, 3>>(transposed);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ((*m)(3, 2, 1), 23);
  EXPECT_THAT(ErrorOf(AsTensorMap<float, 3>(transposed)), HasSubstr("AsContiguous"));
}

TEST(AsTensorMap, StridesOfSizeOneDoNotCount) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  for (const int64_t stride : {-7, 0, 7}) {
    const Tensor rows = *Tensor::Wrap(values, {2, 1, 3}, {3, stride, 1}, Device::Cpu(), [] {});
    EXPECT_EQ((*AsTensorMap<float, 3>(rows))(1, 0, 2), 5) << stride;
    const Tensor columns = *Tensor::Wrap(values, {2, 1, 3}, {1, stride, 2}, Device::Cpu(), [] {});
    EXPECT_EQ((*AsTensorMap<Eigen::Tensor<float, 3>>(columns))(1, 0, 2), 5) << stride;
  }
}

TEST(AsTensorMap, WhatDoesNotFitIsRefused) {
  const Tensor t = Iota({2, 3});
  EXPECT_THAT(ErrorOf(AsTensorMap<float, 3>(t)),
              AllOf(HasSubstr("row-major Eigen::TensorMap of rank 3"), HasSubstr("ranks differ")));
  EXPECT_THAT(ErrorOf(AsTensorMap<double, 2>(t)), HasSubstr("float32"));
  EXPECT_THAT(ErrorOf(AsTensorMap<float, 2>(t.ReadOnly())), HasSubstr("read-only"));
  EXPECT_FALSE((AsTensorMap<float, 2>(*t.Slice(1, {.step = -1})).ok()));
  EXPECT_FALSE((AsTensorMap<const float, 2>(*t.Permute({1, 0})).ok()));
  EXPECT_FALSE((AsTensorMap<float, 2>(Tensor()).ok()));
  const Tensor on_gpu = Zeros({1}, kFloat32, Device::Cuda(0));
  EXPECT_THAT(ErrorOf(AsTensorMap<float, 1>(on_gpu)), HasSubstr("cuda:0"));
  using Narrow = Eigen::Tensor<float, 1, Eigen::RowMajor, int8_t>;
  EXPECT_THAT(ErrorOf(AsTensorMap<const Narrow>(Iota({200}))), HasSubstr("index type"));
  using Narrow2 = Eigen::Tensor<float, 2, Eigen::RowMajor, int8_t>;
  EXPECT_THAT(ErrorOf(AsTensorMap<const Narrow2>(Iota({20, 20}))), HasSubstr("index type"));
}

TEST(AsTensorMap, AConstMapTakesReadOnlyAndEmptyTensors) {
  const Tensor x = Iota({2, 3}).ReadOnly();
  const auto m = AsTensorMap<const float, 2>(x);
  ASSERT_TRUE(m.ok()) << m.status();
  static_assert(std::is_same_v<decltype(m->data()), const float*>);
  EXPECT_EQ((AsTensorMap<const float, 3>(Iota({2, 0, 3}))->size()), 0);
}

TEST(FromEigenTensor, ATensorIsMovedWithoutACopy) {
  Eigen::Tensor<float, 3, Eigen::RowMajor> e(2, 3, 4);
  e.setConstant(7);
  const float* const memory = e.data();
  const absl::StatusOr<Tensor> t = FromEigen(std::move(e));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->raw_data(), memory);
  EXPECT_THAT(t->shape(), ElementsAre(2, 3, 4));
  EXPECT_THAT(t->strides(), ElementsAre(12, 4, 1));
  EXPECT_EQ(**t->at<float>({1, 2, 3}), 7);
}

TEST(FromEigenTensor, ColumnMajorStridesAndRankZero) {
  EXPECT_THAT(FromEigen(Eigen::Tensor<double, 3>(2, 3, 4))->strides(), ElementsAre(1, 2, 6));
  Eigen::Tensor<float, 0> scalar;
  scalar() = 3;
  const Tensor t = *FromEigen(std::move(scalar));
  EXPECT_EQ(t.rank(), 0);
  EXPECT_EQ(**t.at<float>({}), 3);
  EXPECT_EQ(FromEigen(Eigen::Tensor<Eigen::half, 2>(0, 3))->num_elements(), 0);
}

TEST(ViewOfEigenTensor, BorrowsAndKeepsConst) {
  Eigen::Tensor<float, 2> e(2, 3);
  e.setZero();
  const Tensor t = *ViewOf(e);
  EXPECT_EQ(t.raw_data(), e.data());
  **t.at<float>({1, 2}) = 5;
  EXPECT_EQ(e(1, 2), 5);
  EXPECT_TRUE(ViewOf(std::as_const(e))->is_read_only());
  EXPECT_FALSE(ViewOf(Eigen::TensorMap<Eigen::Tensor<float, 2>>(e))->is_read_only());
  EXPECT_TRUE(
      ViewOf(Eigen::TensorMap<const Eigen::Tensor<float, 2>>(e.data(), 2, 3))->is_read_only());
  Eigen::TensorFixedSize<float, Eigen::Sizes<2, 3>, Eigen::RowMajor> fixed;
  EXPECT_THAT(ViewOf(fixed)->strides(), ElementsAre(3, 1));
}

TEST(ViewOfEigenTensor, AnOwnerIsKeptUntilTheEnd) {
  auto shared = std::make_shared<Eigen::Tensor<float, 2>>(2, 3);
  const std::weak_ptr<Eigen::Tensor<float, 2>> watch = shared;
  int deleted = 0;
  {
    const Tensor t = *ViewOf(*shared, shared);
    const Tensor u = *ViewOf(*shared, [&deleted] { ++deleted; });
    shared.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(deleted, 1);
}

}  // namespace
}  // namespace dovetail
