// python/tests/tensor/repr_test.py tests that every type and shape prints as in PyTorch.

#include "dovetail/core/format_values.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

template <typename T>
std::string Format(std::vector<T> values, const std::vector<int64_t>& shape) {
  return FormatValues(*Tensor::Wrap(std::move(values), shape));
}

TEST(FormatValues, ColumnsAreAligned) {
  EXPECT_EQ(Format<float>({10, 0.3f, 0.1f, 2}, {2, 2}),
            "tensor([[10.0000,  0.3000],\n        [ 0.1000,  2.0000]])");
  EXPECT_EQ(Format<int64_t>({-1, -1, 2, 3}, {4}), "tensor([-1, -1,  2,  3])");
}

TEST(FormatValues, FloatsThatAreIntegersHaveNoDigits) {
  EXPECT_EQ(Format<float>({1, 2, 30}, {3}), "tensor([ 1.,  2., 30.])");
  EXPECT_EQ(Format<float>({0}, {1}), "tensor([0.])");
}

TEST(FormatValues, AWideRangeHasExponents) {
  EXPECT_EQ(Format<float>({1e-5f, 1}, {2}), "tensor([1.0000e-05, 1.0000e+00])");
}

TEST(FormatValues, NanAndInfinityAreWords) {
  EXPECT_EQ(Format<float>({NAN, -NAN, INFINITY, -INFINITY}, {4}), "tensor([nan, nan, inf, -inf])");
}

TEST(FormatValues, TypesThatAreNotTheDefaultAreNamed) {
  EXPECT_EQ(Format<int8_t>({97}, {1}), "tensor([97], dtype=dovetail.int8)");
  EXPECT_EQ(Format<double>({1.5}, {}), "tensor(1.5000, dtype=dovetail.float64)");
  EXPECT_EQ(Format<std::complex<float>>({{1, -2}, {0.5f, 3}}, {2}),
            "tensor([1.0000-2.j, 0.5000+3.j])");
}

TEST(FormatValues, EmptyTensorsShowTheirShape) {
  EXPECT_EQ(Format<float>({}, {0}), "tensor([])");
  EXPECT_EQ(Format<int64_t>({}, {0, 3}), "tensor([], size=(0, 3), dtype=dovetail.int64)");
}

TEST(FormatValues, LargeTensorsShowOnlyTheirEdges) {
  std::vector<int64_t> values(2000);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(Format(values, {2000}), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
}

TEST(FormatValues, ViewsPrintInTheirOwnOrderWithTheMark) {
  const Tensor t = *Tensor::Wrap(std::vector<int64_t>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_EQ(FormatValues(*t.Transpose(0, 1), "requires_grad=True"),
            "tensor([[0, 3],\n        [1, 4],\n        [2, 5]], requires_grad=True)");
}

TEST(FormatValues, WithoutAccessToTheValuesTheShapeIsShown) {
  const Tensor t = *Tensor::Make(Storage::Adopt(nullptr, 8, Device{DeviceType::kMetal, 0}, {}), 0,
                                 kFloat32, *Layout::Contiguous({2}), {});
  EXPECT_EQ(FormatValues(t), "tensor(..., shape=(2,), dtype=dovetail.float32, device='metal:0')");
  EXPECT_EQ(FormatValues(Tensor()), "null tensor");
}

}  // namespace
}  // namespace dovetail
