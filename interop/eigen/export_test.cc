#include "dovetail/interop/eigen/export.h"

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "Eigen/Dense"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/testing/tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <typename StatusOrMap>
std::string ErrorOf(const StatusOrMap& map) {
  EXPECT_EQ(map.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(map.status().message());
}

TEST(EigenExport, AMatrixSharesTheMemoryBothWays) {
  const Tensor t = Iota({2, 3});
  auto m = AsMap<float>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data(), t.raw_data());
  EXPECT_EQ(m->rows(), 2);
  EXPECT_EQ(m->cols(), 3);
  EXPECT_EQ((*m)(1, 0), 3);
  *m *= 2;
  EXPECT_EQ(**t.at<float>({1, 2}), 10);
  static_assert(std::is_same_v<
                decltype(m)::value_type,
                Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                           Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>>);
}

TEST(EigenExport, AColumnMajorTypeSeesTheSameElements) {
  const Tensor t = Iota({2, 3});
  auto m = AsMap<Eigen::MatrixXf>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data(), t.raw_data());
  EXPECT_EQ(m->innerStride(), 3);
  EXPECT_EQ(m->outerStride(), 1);
  EXPECT_EQ(*m, *AsMap<float>(t));
}

TEST(EigenExport, StridesAreKept) {
  const Tensor t = Iota({4, 6});
  const Tensor part =
      *t.Index({IndexItem::Range({.start = 1, .step = 2}), IndexItem::Range({.step = 3})});
  const auto m = AsMap<Eigen::MatrixXf>(part);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data(), part.raw_data());
  EXPECT_EQ(m->rowStride(), 12);
  EXPECT_EQ(m->colStride(), 3);
  EXPECT_EQ((*m)(1, 1), 21);
}

TEST(EigenExport, NegativeStridesAreKept) {
  const Tensor t = Iota({3, 4});
  const Tensor reversed =
      *t.Index({IndexItem::Range({.step = -1}), IndexItem::Range({.step = -1})});
  const auto m = AsMap<const float>(reversed);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->rowStride(), -4);
  EXPECT_EQ(m->colStride(), -1);
  EXPECT_EQ((*m)(0, 0), 11);
  EXPECT_EQ((*m)(2, 3), 0);
  EXPECT_EQ(Eigen::MatrixXf(*m), Eigen::MatrixXf(AsMap<float>(t)->reverse()));
  // Sums over packets, which a stride of -1 must not take for a stride of 1.
  const Tensor long_row = Iota({64});
  const Tensor back = *long_row.Slice(0, {.step = -1});
  const Eigen::VectorXf copied = *AsVectorMap<const float>(back);
  EXPECT_EQ(copied[0], 63);
  EXPECT_EQ(copied[63], 0);
  EXPECT_EQ(AsVectorMap<const float>(back)->dot(copied), copied.squaredNorm());
}

TEST(EigenExport, ABroadcastTensorIsReadWithStridesOfZero) {
  const Tensor row = Iota({3});
  const Tensor t = *row.BroadcastTo({2, 3});
  const auto m = AsMap<const float>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->rowStride(), 0);
  EXPECT_EQ(m->sum(), 6);
  EXPECT_EQ(Eigen::MatrixXf(*m).row(1), Eigen::MatrixXf(*m).row(0));
  EXPECT_THAT(ErrorOf(AsMap<float>(t)), HasSubstr("read-only"));
}

TEST(EigenExport, AVectorHasOneStride) {
  const Tensor t = Iota({4, 3});
  const Tensor column = *t.Select(1, 2);
  const auto v = AsVectorMap<float>(column);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(v->data(), column.raw_data());
  EXPECT_EQ(v->size(), 4);
  EXPECT_EQ(v->innerStride(), 3);
  EXPECT_EQ((*v)[3], 11);
  const auto row = AsMap<Eigen::RowVectorXf>(column);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->innerStride(), 3);
  EXPECT_EQ((*row)[3], 11);
}

TEST(EigenExport, AVectorTypeTakesAMatrixOfItsOrientation) {
  const Tensor t = Iota({4, 3});
  const Tensor column = *t.Slice(1, {.start = 1, .stop = 2});  // (4, 1), strides (3, 1)
  const auto v = AsMap<Eigen::VectorXf>(column);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(v->innerStride(), 3);
  EXPECT_EQ((*v)[1], 4);
  EXPECT_THAT(ErrorOf(AsMap<Eigen::RowVectorXf>(column)), HasSubstr("the sizes differ"));
  const Tensor row = *t.Slice(0, {.start = 1, .stop = 2});
  const auto r = AsMap<Eigen::RowVectorXf>(row);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->innerStride(), 1);
  EXPECT_EQ((*r)[2], 5);
}

TEST(EigenExport, TypesOfFixedSizeCheckIt) {
  const Tensor t = Iota({3, 3});
  auto m = AsMap<Eigen::Matrix3f>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data(), t.raw_data());
  EXPECT_EQ((*m)(0, 2), 2);
  EXPECT_EQ(AsMap<const Eigen::Vector3f>(*t.Select(0, 1))->x(), 3);
  const std::string error = ErrorOf(AsMap<Eigen::Matrix2f>(t));
  EXPECT_THAT(error,
              AllOf(HasSubstr("float32 tensor of shape (3, 3)"),
                    HasSubstr("an Eigen::Map of 2 by 2 elements"), HasSubstr("Eigen::Dynamic")));
  using AtMost2 = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 2, 2>;
  EXPECT_THAT(ErrorOf(AsMap<AtMost2>(t)), HasSubstr("at most 2"));
  EXPECT_TRUE(AsMap<AtMost2>(Iota({1, 2})).ok());
}

TEST(EigenExport, ArraysAreNamedLikeMatrices) {
  const Tensor t = Iota({2, 2});
  auto a = AsMap<Eigen::ArrayXXf>(t);
  ASSERT_TRUE(a.ok()) << a.status();
  *a += 1;
  EXPECT_EQ(**t.at<float>({1, 1}), 4);
}

TEST(EigenExport, ElementTypesOfEigenAndOfTheStandardLibrary) {
  Tensor halves = Zeros({2}, kFloat16);
  auto h = AsVectorMap<Eigen::half>(halves);
  ASSERT_TRUE(h.ok()) << h.status();
  h->setConstant(Eigen::half(1.0f));
  EXPECT_EQ(static_cast<const uint16_t*>(halves.raw_data())[1], 0x3c00);
  Tensor bfloats = Zeros({2}, kBFloat16);
  auto b = AsVectorMap<Eigen::bfloat16>(bfloats);
  ASSERT_TRUE(b.ok()) << b.status();
  b->setConstant(Eigen::bfloat16(1.0f));
  EXPECT_EQ(static_cast<const uint16_t*>(bfloats.raw_data())[1], 0x3f80);
  EXPECT_FALSE(AsVectorMap<Eigen::half>(bfloats).ok());

  Tensor complexes = Zeros({1, 1}, kComplex64);
  auto c = AsMap<Eigen::MatrixXcf>(complexes);
  ASSERT_TRUE(c.ok()) << c.status();
  (*c)(0, 0) = {1, 2};
  EXPECT_EQ(**complexes.at<std::complex<float>>({0, 0}), std::complex<float>(1, 2));
  EXPECT_TRUE(AsMap<int8_t>(Iota<int8_t>({2, 2})).ok());
  EXPECT_TRUE(AsMap<bool>(Zeros({2, 2}, kBool)).ok());
}

TEST(EigenExport, ContiguousMapsHaveNoStrides) {
  const Tensor t = Iota({2, 3});
  auto m = AsContiguousMap<float>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  static_assert(std::is_same_v<
                decltype(m)::value_type,
                Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>>);
  EXPECT_EQ(m->data(), t.raw_data());
  EXPECT_EQ((*m)(1, 0), 3);
  EXPECT_THAT(ErrorOf(AsContiguousMap<Eigen::MatrixXf>(t)), HasSubstr("column by column"));
  const Tensor transposed = *t.Transpose(0, 1);
  EXPECT_EQ((*AsContiguousMap<Eigen::MatrixXf>(transposed))(2, 1), 5);
  EXPECT_THAT(ErrorOf(AsContiguousMap<float>(transposed)), HasSubstr("row by row"));
  EXPECT_TRUE(AsContiguousMap<Eigen::VectorXf>(*t.Select(0, 1)).ok());
  EXPECT_FALSE(AsContiguousMap<Eigen::VectorXf>(*t.Select(1, 1)).ok());
  EXPECT_FALSE(AsContiguousMap<float>(*t.Slice(1, {.step = -1})).ok());
}

TEST(EigenExport, RowsOrColumnsThatAreApartOrOverlapAreNotContiguous) {
  float values[16] = {};
  const auto in = [&](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return *Tensor::Wrap(values, shape, strides, Device::Cpu(), [] {});
  };
  for (const int64_t rows : {2, 3}) {
    for (const int64_t stride : {0, 1, 2, 4, 5}) {
      EXPECT_FALSE(AsContiguousMap<float>(in({rows, 3}, {stride, 1})).ok()) << stride;
      EXPECT_FALSE(AsContiguousMap<Eigen::MatrixXf>(in({3, rows}, {1, stride})).ok()) << stride;
    }
    EXPECT_TRUE(AsContiguousMap<float>(in({rows, 3}, {3, 1})).ok());
    EXPECT_TRUE(AsContiguousMap<Eigen::MatrixXf>(in({3, rows}, {1, 3})).ok());
  }
}

TEST(EigenExport, NoElementsHaveNoGaps) {
  const auto without = [](std::vector<int64_t> shape) {
    return *Tensor::Wrap(static_cast<float*>(nullptr), shape, {-7, 5}, Device::Cpu(), [] {});
  };
  EXPECT_TRUE(AsContiguousMap<float>(without({0, 3})).ok());
  EXPECT_TRUE(AsContiguousMap<float>(without({3, 0})).ok());
}

TEST(EigenExport, StridesOfSizeOneDoNotCount) {
  const Tensor t = Iota({4, 3});
  const Tensor row = *t.Slice(0, {.start = 0, .stop = 1});
  EXPECT_TRUE(AsContiguousMap<float>(row).ok());
  EXPECT_TRUE(AsContiguousMap<Eigen::MatrixXf>(row).ok());
  const Tensor one = *t.Index({IndexItem::Range({.stop = 1}), IndexItem::Range({.stop = 1})});
  EXPECT_TRUE((AsContiguousMap<Eigen::Vector<float, 1>>(one).ok()));
  float values[3] = {0, 1, 2};
  for (const int64_t stride : {-9, 0, 9}) {
    const Tensor odd = *Tensor::Wrap(values, {1, 3}, {stride, 1}, Device::Cpu(), [] {});
    EXPECT_EQ((*AsContiguousMap<float>(odd))(0, 2), 2) << stride;
    const Tensor column = *odd.Transpose(0, 1);
    EXPECT_EQ((*AsContiguousMap<Eigen::MatrixXf>(column))(2, 0), 2) << stride;
    EXPECT_EQ((*AsContiguousMap<float>(column))(2, 0), 2) << stride;
  }
}

TEST(EigenExport, ATensorThatIsMisalignedForItsTypeIsRefused) {
  alignas(8) char bytes[64] = {};
  auto* const odd = reinterpret_cast<float*>(bytes + 2);
  const Tensor t = *Tensor::Wrap(odd, {2, 2}, {2, 1}, Device::Cpu(), [] {});
  EXPECT_THAT(ErrorOf(AsMap<float>(t)), HasSubstr("aligned"));
}

TEST(EigenExport, AnAddressThatIsAlignedForTheElementIsEnough) {
  alignas(32) float values[9] = {};
  const Tensor t = *Tensor::Wrap(values + 1, {2, 2}, {2, 1}, Device::Cpu(), [] {});
  EXPECT_EQ(AsMap<Eigen::Matrix2f>(t)->sum(), 0);
  EXPECT_EQ(AsContiguousMap<float>(t)->sum(), 0);
}

TEST(EigenExport, AReadOnlyTensorIsRefusedAsAWritableMap) {
  const Tensor t = Iota({2, 2}).ReadOnly();
  EXPECT_THAT(ErrorOf(AsMap<float>(t)), HasSubstr("read-only"));
  EXPECT_THAT(ErrorOf(AsMap<Eigen::Matrix2f>(t)), HasSubstr("read-only"));
  const auto m = AsMap<const Eigen::Matrix2f>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  static_assert(std::is_same_v<decltype(m->data()), const float*>);
  EXPECT_EQ(AsMap<const float>(t)->sum(), 6);
}

TEST(EigenExport, OtherRanksAreRefused) {
  EXPECT_THAT(ErrorOf(AsMap<float>(Iota({2, 2, 2}))), HasSubstr("AsTensorMap"));
  EXPECT_THAT(ErrorOf(AsMap<float>(Iota({4}))), HasSubstr("AsVectorMap"));
  EXPECT_THAT(ErrorOf(AsVectorMap<float>(Iota({}))), HasSubstr("Reshape"));
  EXPECT_THAT(ErrorOf(AsMap<float>(Iota({}))), HasSubstr("2 dimensions"));
}

TEST(EigenExport, OtherElementTypesAreRefused) {
  EXPECT_THAT(ErrorOf(AsMap<double>(Iota({2, 2}))), HasSubstr("float32, not float64"));
  EXPECT_FALSE(AsMap<int8_t>(Zeros({2, 2}, kInt4)).ok()) << "sub-byte";
  EXPECT_FALSE(AsMap<uint8_t>(Zeros({2, 2}, kFloat8E5M2)).ok());
  EXPECT_FALSE(AsMap<float>(Zeros({2, 2}, *DType::Make(TypeKind::kFloat, 32, 4))).ok());
}

TEST(EigenExport, OtherDevicesAreRefused) {
  const Tensor t = Zeros({1, 1}, kFloat32, Device::Cuda(0));
  EXPECT_THAT(ErrorOf(AsMap<float>(t)), HasSubstr("cuda:0"));
}

TEST(EigenExport, ANullTensorIsRefused) {
  EXPECT_THAT(ErrorOf(AsMap<float>(Tensor())), HasSubstr("null"));
  EXPECT_THAT(ErrorOf(AsContiguousMap<float>(Tensor())), HasSubstr("null"));
}

TEST(EigenExport, AnEmptyTensorIsAnEmptyMap) {
  const Tensor x = Iota({0, 3});
  const auto m = AsMap<float>(x);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->rows(), 0);
  EXPECT_EQ(m->cols(), 3);
  EXPECT_TRUE(AsContiguousMap<Eigen::MatrixXf>(Iota({3, 0})).ok());
  EXPECT_EQ(AsVectorMap<float>(Iota({0}))->size(), 0);
  const Tensor without_memory =
      *Tensor::Wrap(static_cast<float*>(nullptr), {0, 2}, {2, 1}, Device::Cpu(), [] {});
  EXPECT_EQ(AsMap<float>(without_memory)->sum(), 0);
}

TEST(EigenExport, AMapMayBeHandedToARef) {
  const Tensor t = Iota({2, 3});
  const auto scale =
      [](Eigen::Ref<Eigen::MatrixXf, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> m) {
        m *= 3;
      };
  scale(*AsMap<Eigen::MatrixXf>(t));
  EXPECT_EQ(**t.at<float>({0, 1}), 3);
}

}  // namespace
}  // namespace dovetail
