#include "dovetail/interop/eigen/import.h"

#include <memory>
#include <utility>

#include "Eigen/Dense"
#include "dovetail/interop/eigen/export.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::ElementsAre;

TEST(FromEigenTest, AMatrixIsTakenOverWithoutACopy) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(3, 4);
  const double* data = m.data();
  const double last = m(2, 3);
  Tensor x = FromEigen(std::move(m)).value();
  EXPECT_EQ(x.raw_data(), data);
  EXPECT_THAT(x.shape(), ElementsAre(3, 4));
  EXPECT_THAT(x.strides(), ElementsAre(1, 3));
  EXPECT_EQ(**x.at<double>({2, 3}), last);
  EXPECT_FALSE(x.is_read_only());
}

TEST(FromEigenTest, RowMajorMatricesArraysAndVectors) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  EXPECT_THAT(FromEigen(RowMajor(2, 3))->strides(), ElementsAre(3, 1));
  EXPECT_THAT(FromEigen(Eigen::ArrayXXi(2, 3))->strides(), ElementsAre(1, 2));
  EXPECT_THAT(FromEigen(Eigen::VectorXf(5))->shape(), ElementsAre(5));
  EXPECT_THAT(FromEigen(Eigen::RowVectorXf(5))->shape(), ElementsAre(5));
  EXPECT_THAT(FromEigen(Eigen::MatrixXf(0, 3))->shape(), ElementsAre(0, 3));
}

TEST(FromEigenTest, AMatrixOfFixedSizeLivesAsLongAsTheTensor) {
  Tensor x;
  {
    Eigen::Matrix2d m;
    m << 1, 2, 3, 4;
    x = FromEigen(std::move(m)).value();
  }
  EXPECT_EQ(**x.at<double>({1, 0}), 3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x.raw_data()) % alignof(Eigen::Matrix2d), 0u);
}

TEST(FromEigenTest, AnExpressionIsEvaluatedFirst) {
  const Eigen::Vector2f a(1, 2), b(3, 4);
  Tensor x = FromEigen(Eigen::Vector2f(a + b)).value();
  EXPECT_THAT(*x.span<float>(), ElementsAre(4, 6));
}

TEST(ViewOfTest, AMatrixIsBorrowed) {
  Eigen::MatrixXf m = Eigen::MatrixXf::Zero(2, 2);
  Tensor x = ViewOf(m).value();
  **x.at<float>({1, 0}) = 7;
  EXPECT_EQ(m(1, 0), 7);
  EXPECT_TRUE(ViewOf(std::as_const(m))->is_read_only());
}

TEST(ViewOfTest, BlocksMapsAndRefsKeepTheirStrides) {
  Eigen::MatrixXf m(6, 4);
  Tensor block = ViewOf(m.block(1, 2, 3, 2)).value();
  EXPECT_EQ(block.raw_data(), &m(1, 2));
  EXPECT_THAT(block.shape(), ElementsAre(3, 2));
  EXPECT_THAT(block.strides(), ElementsAre(1, 6));
  EXPECT_THAT(ViewOf(m.row(2))->strides(), ElementsAre(6));
  EXPECT_THAT(ViewOf(m.diagonal())->strides(), ElementsAre(7));
  EXPECT_THAT(ViewOf(m.transpose())->strides(), ElementsAre(6, 1));
  const Eigen::Ref<const Eigen::MatrixXf> ref = m;
  EXPECT_TRUE(ViewOf(ref)->is_read_only());
  float memory[6] = {};
  const Eigen::Map<const Eigen::VectorXf> map(memory, 6);
  EXPECT_EQ(ViewOf(map)->raw_data(), memory);
  EXPECT_TRUE(ViewOf(map)->is_read_only());
}

TEST(ViewOfTest, AnOwnerIsKeptAndADeleterCalledOnce) {
  auto shared = std::make_shared<Eigen::MatrixXf>(2, 2);
  {
    Tensor x = ViewOf(*shared, shared).value();
    EXPECT_EQ(shared.use_count(), 2);
  }
  EXPECT_EQ(shared.use_count(), 1);
  int calls = 0;
  {
    Tensor x = ViewOf(*shared, [&calls] { ++calls; }).value();
  }
  {
    Tensor x = ViewOf(*shared, [&calls](float*) { ++calls; }).value();
  }
  EXPECT_EQ(calls, 2);
}

TEST(EigenTest, AMapOfATensorComesBackAsTheSameMemory) {
  Tensor x = Tensor::Wrap(std::vector<float>(6), {2, 3}).value();
  auto map = AsMap<float>(x).value();
  Tensor back = ViewOf(map, x).value();
  EXPECT_EQ(back.raw_data(), x.raw_data());
  EXPECT_TRUE(back.layout() == x.layout());
  EXPECT_EQ(x.storage()->use_count(), 2);
}

}  // namespace
}  // namespace dovetail
