#include "dovetail/interop/eigen/import.h"

#include <complex>
#include <memory>
#include <string>
#include <utility>

#include "Eigen/Dense"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/eigen/export.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;

Eigen::MatrixXf Iota(int rows, int cols) {
  return Eigen::VectorXf::LinSpaced(rows * cols, 0, static_cast<float>(rows * cols - 1))
      .reshaped(rows, cols);
}

TEST(FromEigen, AMatrixIsMovedWithoutACopy) {
  Eigen::MatrixXf m = Iota(2, 3);
  const float* const memory = m.data();
  const absl::StatusOr<Tensor> t = FromEigen(std::move(m));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(*t->data<float>(), memory);
  EXPECT_THAT(t->shape(), ElementsAre(2, 3));
  EXPECT_THAT(t->strides(), ElementsAre(1, 2));
  EXPECT_EQ(**t->at<float>({1, 2}), 5);
  EXPECT_EQ(t->storage()->nbytes(), 24);
  EXPECT_FALSE(t->is_read_only());
  EXPECT_EQ(t->device(), Device::Cpu());
}

TEST(FromEigen, ARowMajorMatrixIsContiguous) {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> m =
      Iota(2, 3).cast<double>();
  const Tensor t = *FromEigen(std::move(m));
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(t.dtype(), kFloat64);
}

TEST(FromEigen, AVectorAndAnArrayOfOneDimensionHaveRankOne) {
  EXPECT_THAT(FromEigen(Eigen::VectorXi(5))->shape(), ElementsAre(5));
  EXPECT_THAT(FromEigen(Eigen::RowVectorXd(5))->shape(), ElementsAre(5));
  EXPECT_THAT(FromEigen(Eigen::ArrayXf(5))->strides(), ElementsAre(1));
  EXPECT_EQ(FromEigen(Eigen::ArrayXXcd(2, 2))->dtype(), kComplex128);
}

TEST(FromEigen, AMatrixOfFixedSizeIsMovedWithItsElements) {
  Eigen::Matrix4f m = Iota(4, 4);
  Tensor row;
  {
    const Tensor t = *FromEigen(std::move(m));
    EXPECT_THAT(t.shape(), ElementsAre(4, 4));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw_data()) % alignof(Eigen::Matrix4f), 0);
    row = *t.Select(0, 1);
  }
  EXPECT_EQ(**row.at<float>({3}), 13);
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4> bounded = Iota(3, 2);
  EXPECT_EQ(**FromEigen(std::move(bounded))->at<float>({2, 1}), 5);
}

TEST(FromEigen, ElementTypesOfEigenKeepTheirMeaning) {
  EXPECT_EQ(FromEigen(Eigen::Matrix<Eigen::half, 2, 2>())->dtype(), kFloat16);
  EXPECT_EQ(FromEigen(Eigen::Vector<Eigen::bfloat16, Eigen::Dynamic>(3))->dtype(), kBFloat16);
  EXPECT_EQ(FromEigen(Eigen::MatrixXcf(2, 2))->dtype(), kComplex64);
}

TEST(FromEigen, EmptyMatricesAreTaken) {
  EXPECT_THAT(FromEigen(Eigen::MatrixXf())->shape(), ElementsAre(0, 0));
  EXPECT_THAT(FromEigen(Eigen::MatrixXf(0, 3))->shape(), ElementsAre(0, 3));
  EXPECT_EQ(FromEigen(Eigen::VectorXf(0))->num_elements(), 0);
}

TEST(FromEigen, AnEvaluatedExpressionIsTaken) {
  const Eigen::MatrixXf m = Iota(2, 2);
  EXPECT_EQ(**FromEigen(Eigen::MatrixXf(m + m))->at<float>({1, 1}), 6);
}

TEST(ViewOfEigen, AMatrixIsBorrowedBothWays) {
  Eigen::MatrixXf m = Iota(2, 3);
  const Tensor t = *ViewOf(m);
  EXPECT_EQ(t.raw_data(), m.data());
  EXPECT_THAT(t.strides(), ElementsAre(1, 2));
  **t.at<float>({1, 2}) = 50;
  EXPECT_EQ(m(1, 2), 50);
}

TEST(ViewOfEigen, WhatIsConstIsReadOnly) {
  Eigen::MatrixXf m = Iota(2, 3);
  const Eigen::MatrixXf& constant = m;
  EXPECT_TRUE(ViewOf(constant)->is_read_only());
  EXPECT_TRUE(ViewOf(constant.row(0))->is_read_only());
  EXPECT_TRUE(ViewOf(Eigen::Map<const Eigen::MatrixXf>(m.data(), 2, 3))->is_read_only());
  EXPECT_FALSE(ViewOf(Eigen::Map<Eigen::MatrixXf>(m.data(), 2, 3))->is_read_only());
  Eigen::Ref<Eigen::MatrixXf> ref = m;
  EXPECT_FALSE(ViewOf(ref)->is_read_only());
  const Eigen::Ref<const Eigen::MatrixXf> constant_ref = m;
  EXPECT_TRUE(ViewOf(constant_ref)->is_read_only());
  EXPECT_EQ(ViewOf(constant_ref)->raw_data(), m.data());
}

TEST(ViewOfEigen, BlocksAndMapsKeepTheirStrides) {
  Eigen::MatrixXf m = Iota(4, 5);
  const Tensor block = *ViewOf(m.block(1, 2, 2, 3));
  EXPECT_EQ(block.raw_data(), &m(1, 2));
  EXPECT_THAT(block.shape(), ElementsAre(2, 3));
  EXPECT_THAT(block.strides(), ElementsAre(1, 4));
  EXPECT_FALSE(block.is_read_only());
  const Tensor row = *ViewOf(m.row(1));
  EXPECT_THAT(row.shape(), ElementsAre(5));
  EXPECT_THAT(row.strides(), ElementsAre(4));
  EXPECT_THAT(ViewOf(m.transpose())->strides(), ElementsAre(4, 1));
  EXPECT_THAT(ViewOf(m.diagonal())->strides(), ElementsAre(5));
  const Eigen::Map<Eigen::MatrixXf, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> back(
      &m(3, 4), 2, 2, {-4, -1});
  const Tensor negative = *ViewOf(back);
  EXPECT_THAT(negative.strides(), ElementsAre(-1, -4));
  EXPECT_EQ(**negative.at<const float>({1, 1}), m(2, 3));
}

TEST(ViewOfEigen, ADeleterRunsOnceWithTheLastReference) {
  Eigen::MatrixXf m = Iota(2, 2);
  int deleted = 0;
  Tensor t = *ViewOf(m, [&](float* data) {
    EXPECT_EQ(data, m.data());
    ++deleted;
  });
  Tensor row = *t.Select(0, 1);
  t = Tensor();
  EXPECT_EQ(deleted, 0);
  row = Tensor();
  EXPECT_EQ(deleted, 1);
}

TEST(ViewOfEigen, ASharedPointerIsKeptUntilTheEnd) {
  auto shared = std::make_shared<const Eigen::MatrixXf>(Iota(2, 2));
  const std::weak_ptr<const Eigen::MatrixXf> watch = shared;
  {
    const absl::StatusOr<Tensor> t = ViewOf(*shared, std::move(shared));
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_FALSE(watch.expired());
    EXPECT_TRUE(t->is_read_only());
    EXPECT_EQ(**t->at<const float>({1, 1}), 3);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(ViewOfEigen, AUniquePointerIsKeptUntilTheEnd) {
  auto owned = std::make_unique<Eigen::MatrixXf>(Iota(2, 2));
  Eigen::MatrixXf& m = *owned;
  const Tensor t = *ViewOf(m.col(1), std::move(owned));
  EXPECT_EQ(**t.at<float>({0}), 2);
}

TEST(ViewOfEigen, AMatrixSurvivesARoundTrip) {
  Eigen::MatrixXf m = Iota(3, 2);
  const Tensor t = *ViewOf(m);
  const auto back = AsContiguousMap<Eigen::MatrixXf>(t);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->data(), m.data());
  EXPECT_EQ(*back, m);
}

TEST(ViewOfEigen, EmptyVectorsAndMatricesAreBorrowed) {
  Eigen::VectorXf v;
  EXPECT_THAT(ViewOf(v)->shape(), ElementsAre(0));
  Eigen::MatrixXf m(3, 0);
  EXPECT_THAT(ViewOf(m)->shape(), ElementsAre(3, 0));
}

}  // namespace
}  // namespace dovetail
