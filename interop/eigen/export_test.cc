#include "dovetail/interop/eigen/export.h"

#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "Eigen/Dense"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::HasSubstr;

template <typename T = float>
Tensor Counting(std::vector<int64_t> shape) {
  std::vector<T> values(static_cast<size_t>(Layout::Contiguous(shape)->num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<float>(i));
  return Tensor::Wrap(std::move(values), shape).value();
}

Tensor Strided(std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t first = 0,
               Device device = Device::Cpu()) {
  auto memory = std::make_shared<std::vector<float>>(64);
  std::iota(memory->begin(), memory->end(), 0.0F);
  return Tensor::Wrap(memory->data() + first, shape, strides, device, [memory] {}).value();
}

std::string ErrorOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  return std::string(status.message());
}

TEST(AsMapTest, AMatrixIsReadAndWrittenInPlace) {
  Tensor x = Counting({2, 3});
  auto m = AsMap<float>(x);
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->data(), x.raw_data());
  EXPECT_EQ(m->rows(), 2);
  EXPECT_EQ(m->cols(), 3);
  EXPECT_EQ((*m)(1, 2), 5);
  *m *= 2;
  EXPECT_EQ(**x.at<float>({1, 2}), 10);
}

TEST(AsMapTest, AnyStridesAreTaken) {
  const std::pair<std::vector<int64_t>, int64_t> layouts[] = {
      {{1, 2}, 0}, {{8, 2}, 0}, {{-8, 1}, 16}, {{8, -1}, 2}, {{0, 1}, 0}, {{-1, -8}, 20}};
  for (const auto& [strides, first] : layouts) {
    SCOPED_TRACE(testing::PrintToString(strides));
    Tensor x = Strided({2, 3}, strides, first);
    const auto rows = AsMap<const float>(x).value();
    const auto columns = AsMap<const Eigen::MatrixXf>(x).value();
    const auto fixed = AsMap<const Eigen::Matrix<float, 2, 3>>(x).value();
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        EXPECT_EQ(rows(i, j), **x.at<float>({i, j}));
        EXPECT_EQ(columns(i, j), **x.at<float>({i, j}));
        EXPECT_EQ(fixed(i, j), **x.at<float>({i, j}));
      }
    }
    EXPECT_EQ((rows * columns.transpose())(0, 0), rows.row(0).squaredNorm());
  }
}

TEST(AsMapTest, AVectorTakesOneDimensionOrItsOwnOrientation) {
  Tensor x = Strided({4}, {-2}, 6);
  EXPECT_EQ(AsVectorMap<float>(x)->sum(), 6 + 4 + 2 + 0);
  EXPECT_EQ(AsMap<Eigen::RowVectorXf>(x)->sum(), 12);
  EXPECT_EQ((*AsMap<Eigen::Vector4f>(x))(0), 6);
  EXPECT_EQ(AsMap<Eigen::VectorXf>(Strided({4, 1}, {2, 9}))->sum(), 12);
  EXPECT_EQ(AsMap<Eigen::RowVectorXf>(Strided({1, 4}, {9, 2}))->sum(), 12);
  EXPECT_THAT(ErrorOf(AsMap<Eigen::VectorXf>(Strided({1, 4}, {9, 2})).status()),
              HasSubstr("sizes differ"));
}

TEST(AsMapTest, ArraysAndSolversWork) {
  Tensor x = Counting<double>({2, 2});
  EXPECT_EQ(AsMap<Eigen::ArrayXXd>(x)->square().sum(), 14);
  EXPECT_NEAR(AsMap<Eigen::Matrix2d>(x)->determinant(), -2, 1e-12);
}

TEST(AsMapTest, TheContiguousFormHasNoStrides) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Tensor x = Counting({2, 3});
  Eigen::Map<RowMajor> m = AsContiguousMap<RowMajor>(x).value();
  EXPECT_EQ(m(1, 0), 3);
  EXPECT_EQ((*AsContiguousMap<Eigen::MatrixXf>(x.Transpose(0, 1).value()))(0, 1), 3);
  EXPECT_EQ(AsContiguousMap<Eigen::VectorXf>(Counting({5}))->size(), 5);
  EXPECT_THAT(ErrorOf(AsContiguousMap<Eigen::MatrixXf>(x).status()),
              HasSubstr("do not lie column by column"));
  EXPECT_FALSE(AsContiguousMap<Eigen::VectorXf>(Strided({4}, {2})).ok());
  EXPECT_FALSE(AsContiguousMap<Eigen::VectorXf>(Strided({4}, {-1}, 4)).ok());
  EXPECT_TRUE(AsContiguousMap<RowMajor>(Strided({1, 4}, {-9, 1})).ok());
}

TEST(AsMapTest, EigensOwnTypesAndComplexNumbers) {
  EXPECT_EQ((*AsMap<Eigen::half>(Tensor::Wrap(std::vector<Eigen::half>(4), {2, 2}).value()))(1, 1),
            Eigen::half(0));
  EXPECT_EQ(dtype_of<Eigen::bfloat16>, kBFloat16);
  Tensor x = Tensor::Wrap(std::vector<std::complex<float>>{{1, 2}, {3, 4}}, {2}).value();
  EXPECT_EQ(AsVectorMap<std::complex<float>>(x)->sum(), std::complex<float>(4, 6));
}

TEST(AsMapTest, EmptyTensorsAreEmptyMaps) {
  EXPECT_EQ(AsMap<float>(Counting({0, 3}))->cols(), 3);
  EXPECT_EQ(AsVectorMap<float>(Counting({0}))->size(), 0);
}

TEST(AsMapTest, AReadOnlyTensorNeedsConst) {
  Tensor x = Counting({2, 2}).ReadOnly();
  EXPECT_THAT(ErrorOf(AsMap<float>(x).status()), HasSubstr("read-only"));
  static_assert(std::is_same_v<decltype(AsMap<const float>(x)->data()), const float*>);
  EXPECT_EQ(AsMap<const float>(x)->sum(), 6);
}

TEST(AsMapTest, WhatDoesNotFitIsRefusedWithTheRemedy) {
  EXPECT_THAT(ErrorOf(AsMap<float>(Counting({2, 3, 4})).status()), HasSubstr("AsTensorMap"));
  EXPECT_THAT(ErrorOf(AsMap<float>(Counting({3})).status()), HasSubstr("AsVectorMap"));
  EXPECT_THAT(ErrorOf(AsVectorMap<float>(Counting({})).status()), HasSubstr("Reshape"));
  EXPECT_THAT(ErrorOf(AsMap<Eigen::Matrix3f>(Counting({3, 2})).status()), HasSubstr("3 × 3"));
  using AtMost4 = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>;
  EXPECT_THAT(ErrorOf(AsMap<AtMost4>(Counting({2, 5})).status()), HasSubstr("at most 4"));
  EXPECT_TRUE(AsMap<AtMost4>(Counting({2, 4})).ok());
  EXPECT_THAT(ErrorOf(AsMap<double>(Counting({2, 2})).status()), HasSubstr("float64"));
  EXPECT_THAT(ErrorOf(AsMap<float>(Strided({2, 2}, {2, 1}, 0, Device::Cuda(0))).status()),
              HasSubstr("cuda"));
  EXPECT_FALSE(AsMap<float>(Tensor()).ok());
  alignas(4) static char memory[20];
  Tensor odd =
      Tensor::Wrap(reinterpret_cast<float*>(memory + 1), {2, 2}, {2, 1}, Device::Cpu(), [] {
      }).value();
  EXPECT_THAT(ErrorOf(AsMap<float>(odd).status()), HasSubstr("align"));
}

}  // namespace
}  // namespace dovetail
