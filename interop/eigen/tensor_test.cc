#include "dovetail/interop/eigen/tensor.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TensorMapTest, AContiguousTensorIsReadAndWrittenInPlace) {
  Tensor x = Tensor::Wrap(std::vector<float>(24), {2, 3, 4}).value();
  auto map = AsTensorMap<float, 3>(x).value();
  map(1, 2, 3) = 7;
  EXPECT_EQ(map.data(), x.raw_data());
  EXPECT_EQ(**x.at<float>({1, 2, 3}), 7);
  const Eigen::Tensor<float, 0, Eigen::RowMajor> sum = map.sum();
  EXPECT_EQ(sum(), 7);
}

TEST(TensorMapTest, ScalarsEmptyAndReadOnlyTensors) {
  Tensor one = Tensor::Wrap(std::vector<int32_t>{5}, {}).value();
  EXPECT_EQ((AsTensorMap<int32_t, 0>(one).value()()), 5);
  EXPECT_EQ((AsTensorMap<float, 2>(Tensor::Wrap(std::vector<float>(), {0, 3}).value())->size()), 0);
  EXPECT_FALSE((AsTensorMap<int32_t, 0>(one.ReadOnly()).ok()));
  EXPECT_EQ((AsTensorMap<const int32_t, 0>(one.ReadOnly()).value()()), 5);
}

TEST(TensorMapTest, WhatDoesNotFitIsRefused) {
  Tensor x = Tensor::Wrap(std::vector<float>(6), {2, 3}).value();
  EXPECT_THAT(std::string(AsTensorMap<float, 3>(x).status().message()),
              HasSubstr("it has 2 dimensions"));
  EXPECT_THAT(std::string(AsTensorMap<float, 2>(x.Transpose(0, 1).value()).status().message()),
              HasSubstr("Copied"));
  EXPECT_FALSE((AsTensorMap<double, 2>(x).ok()));
  EXPECT_FALSE((AsTensorMap<float, 2>(Tensor()).ok()));
}

TEST(TensorMapTest, EigensTensorsAreBorrowedAndTakenOver) {
  Eigen::Tensor<float, 3> columns(2, 3, 4);
  Eigen::Tensor<double, 3, Eigen::RowMajor> rows(2, 3, 4);
  EXPECT_THAT(ViewOf(columns)->strides(), ElementsAre(1, 2, 6));
  EXPECT_THAT(ViewOf(rows)->strides(), ElementsAre(12, 4, 1));
  EXPECT_EQ(ViewOf(rows)->raw_data(), rows.data());
  EXPECT_TRUE(ViewOf(std::as_const(rows))->is_read_only());
  const double* data = rows.data();
  Tensor x = FromEigen(std::move(rows)).value();
  EXPECT_EQ(x.raw_data(), data);
  EXPECT_THAT(x.shape(), ElementsAre(2, 3, 4));
}

}  // namespace
}  // namespace dovetail
