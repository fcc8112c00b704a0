#include "dovetail/interop/mdspan/export.h"

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/mdspan/test_library.h"
#include "dovetail/interop/testing/tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Matrix = md::dextents<int64_t, 2>;
using Vector = md::dextents<int64_t, 1>;

template <typename StatusOrMdspan>
std::string ErrorOf(const StatusOrMdspan& m) {
  EXPECT_EQ(m.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(m.status().message());
}

template <typename M>
typename M::reference At(const M& m, int64_t i, int64_t j) {
  return m.data_handle()[m.mapping()(i, j)];
}

TEST(AsMdspan, LayoutRightSharesTheMemoryBothWays) {
  const Tensor t = Iota({2, 3});
  const auto m = AsMdspan<float, Matrix>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  static_assert(std::is_same_v<decltype(*m), const md::mdspan<float, Matrix>&>);
  static_assert(std::is_same_v<std::decay_t<decltype(*m)>::layout_type, md::layout_right>);
  EXPECT_EQ(m->data_handle(), t.raw_data());
  EXPECT_EQ(m->extent(0), 2);
  EXPECT_EQ(m->extent(1), 3);
  EXPECT_EQ(At(*m, 1, 0), 3);
  At(*m, 0, 1) = 10;
  EXPECT_EQ(**t.at<float>({0, 1}), 10);
}

TEST(AsMdspan, LayoutRightTakesOnlyRowMajorTensors) {
  const Tensor t = Iota({2, 3});
  const Tensor transposed = *t.Transpose(0, 1);
  EXPECT_THAT(
      ErrorOf(AsMdspan<float, Matrix>(transposed)),
      AllOf(HasSubstr("strides (1, 3)"), HasSubstr("an mdspan of extents (dynamic, dynamic)"),
            HasSubstr("layout_stride")));
  EXPECT_FALSE((AsMdspan<float, Matrix, md::layout_right>(*t.Slice(1, {.step = 2})).ok()));
  EXPECT_FALSE((AsMdspan<float, Matrix>(*t.Slice(0, {.step = -1})).ok()));
}

TEST(AsMdspan, LayoutLeftTakesOnlyColumnMajorTensors) {
  const Tensor t = Iota({2, 3});
  EXPECT_FALSE((AsMdspan<float, Matrix, md::layout_left>(t).ok()));
  const Tensor transposed = *t.Transpose(0, 1);
  const auto m = AsMdspan<float, Matrix, md::layout_left>(transposed);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->stride(1), 3);
  EXPECT_EQ(At(*m, 2, 1), 5);
}

TEST(AsMdspan, LayoutStrideKeepsTheStrides) {
  const Tensor t = Iota({4, 6});
  const Tensor part =
      *t.Index({IndexItem::Range({.start = 1, .step = 2}), IndexItem::Range({.step = 3})});
  const auto m = AsMdspan<float, Matrix, md::layout_stride>(part);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data_handle(), part.raw_data());
  EXPECT_EQ(m->stride(0), 12);
  EXPECT_EQ(m->stride(1), 3);
  EXPECT_EQ(At(*m, 1, 1), 21);
  const Tensor transposed = *t.Transpose(0, 1);
  EXPECT_EQ((AsMdspan<float, Matrix, md::layout_stride>(transposed)->stride(1)), 6);
}

TEST(AsMdspan, ManyDimensionsInAnyOrder) {
  const Tensor t = Iota({2, 3, 4, 5});
  const Tensor permuted = *t.Permute({2, 0, 3, 1});
  using Four = md::dextents<int, 4>;
  const auto m = AsMdspan<const float, Four, md::layout_stride>(permuted);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data_handle()[m->mapping()(3, 1, 4, 2)], 119);
  EXPECT_FALSE((AsMdspan<const float, Four, md::layout_left>(permuted).ok()));
}

TEST(AsMdspan, NegativeStridesAreRefusedWithTheRemedy) {
  const Tensor reversed = *Iota({3, 2}).Slice(0, {.step = -1});
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix, md::layout_stride>(reversed)),
              AllOf(HasSubstr("strides (-2, 1)"), HasSubstr("positive"), HasSubstr("step -1")));
}

TEST(AsMdspan, BroadcastTensorsAreRefusedWithTheRemedy) {
  const Tensor broadcast = *Iota({3}).BroadcastTo({2, 3});
  EXPECT_THAT(ErrorOf(AsMdspan<const float, Matrix, md::layout_stride>(broadcast)),
              AllOf(HasSubstr("these repeat"), HasSubstr("Copied")));
}

TEST(AsMdspan, OverlappingAndInterleavedDimensionsAreRefused) {
  float values[16] = {};
  const Tensor windows = *Tensor::Wrap(values, {3, 3}, {1, 1}, Device::Cpu(), [] {});
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix, md::layout_stride>(windows)),
              HasSubstr("interleave"));
  const Tensor distinct = *Tensor::Wrap(values, {2, 2}, {3, 2}, Device::Cpu(), [] {});
  EXPECT_FALSE((AsMdspan<float, Matrix, md::layout_stride>(distinct).ok()));
}

TEST(AsMdspan, StridesOfSizeOneSayNothing) {
  const Tensor t = Iota({4, 3});
  const Tensor row = *t.Slice(0, {.start = 1, .stop = 2});  // (1, 3), strides (3, 1)
  EXPECT_TRUE((AsMdspan<float, Matrix, md::layout_left>(row).ok()));
  EXPECT_EQ((AsMdspan<float, Matrix, md::layout_stride>(row)->stride(0)), 3);
  float values[8] = {};
  for (int64_t stride : {-7, 0, 2}) {  // 2 does not step over the row
    const Tensor odd = *Tensor::Wrap(values, {1, 3}, {stride, 1}, Device::Cpu(), [] {});
    const auto m = AsMdspan<float, Matrix, md::layout_stride>(odd);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ(m->stride(0), 1);
    EXPECT_TRUE((AsMdspan<float, Matrix>(odd).ok()));
  }
  // What the row spans is beyond an int64. No element is read.
  constexpr int64_t kFar = int64_t{1} << 62;
  int8_t value = 0;
  const Tensor far = *Tensor::Wrap(&value, {1, 2}, {kFar + 1, kFar}, Device::Cpu(), [] {});
  const auto m = AsMdspan<int8_t, Matrix, md::layout_stride>(far);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->stride(0), 1);
  EXPECT_EQ(m->stride(1), kFar);
}

TEST(AsMdspan, StaticExtentsAreChecked) {
  const Tensor t = Iota({2, 3});
  using Fixed = md::extents<int, 2, 3>;
  const auto m = AsMdspan<float, Fixed>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(At(*m, 1, 2), 5);
  EXPECT_EQ((AsMdspan<float, md::extents<int, 2, md::dynamic_extent>>(t)->extent(1)), 3);
  EXPECT_THAT(ErrorOf(AsMdspan<float, md::extents<int, 2, 4>>(t)),
              AllOf(HasSubstr("extents (2, 4)"), HasSubstr("shape (2, 3)")));
  EXPECT_FALSE((AsMdspan<float, md::extents<int, 3, md::dynamic_extent>>(t).ok()));
}

TEST(AsMdspan, OtherRanksAreRefused) {
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(Iota({4}))), HasSubstr("ranks differ"));
  EXPECT_FALSE((AsMdspan<float, Vector>(Iota({2, 2})).ok()));
  EXPECT_FALSE((AsMdspan<float, Vector>(Iota({})).ok()));
}

TEST(AsMdspan, ATensorOfRankZeroIsOneElement) {
  const Tensor t = Iota({});
  const auto m = AsMdspan<float, md::extents<int>>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data_handle()[m->mapping()()], 0);
  EXPECT_TRUE((AsMdspan<float, md::extents<int>, md::layout_stride>(t).ok()));
}

TEST(AsMdspan, OffsetsMustFitTheIndexType) {
  const Tensor t = Iota<int8_t>({20, 20});
  EXPECT_THAT(ErrorOf(AsMdspan<int8_t, md::dextents<int8_t, 2>>(t)), HasSubstr("wider index"));
  EXPECT_TRUE((AsMdspan<int8_t, md::dextents<int16_t, 2>>(t).ok()));
  const Tensor corners = *t.Index({IndexItem::Range({.step = 19}), IndexItem::Range({.step = 19})});
  EXPECT_FALSE((AsMdspan<int8_t, md::dextents<uint8_t, 2>, md::layout_stride>(corners).ok()));
  // The size that the offsets span must fit, and not only the last offset.
  int8_t values[128] = {};
  using Small = md::dextents<int8_t, 1>;
  const auto at = [&](int64_t last) {
    return *Tensor::Wrap(values, {2}, {last}, Device::Cpu(), [] {});
  };
  EXPECT_TRUE((AsMdspan<int8_t, Small, md::layout_stride>(at(126)).ok()));
  EXPECT_FALSE((AsMdspan<int8_t, Small, md::layout_stride>(at(127)).ok()));
  const Tensor first = *t.Select(0, 0);
  EXPECT_TRUE((AsMdspan<int8_t, md::dextents<uint8_t, 1>>(first).ok()));
}

TEST(AsMdspan, EmptyTensorsAreEmptyMdspans) {
  const Tensor t = Iota({0, 3});
  EXPECT_EQ((AsMdspan<float, Matrix>(t)->extent(1)), 3);
  EXPECT_TRUE((AsMdspan<float, Matrix, md::layout_left>(t).ok()));
  for (int64_t stride : {-1, 0, 1}) {
    const Tensor odd = *Tensor::Wrap(static_cast<float*>(nullptr), {4, 0, 4},
                                     {stride, stride, stride}, Device::Cpu(), [] {});
    const auto m = AsMdspan<float, md::dextents<int, 3>, md::layout_stride>(odd);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ(m->extent(0), 4);
    EXPECT_EQ(m->size(), 0);
  }
  constexpr int64_t kHuge = int64_t{1} << 20;
  const Tensor huge = *Tensor::Wrap(static_cast<float*>(nullptr), {0, kHuge, kHuge}, {0, 0, 0},
                                    Device::Cpu(), [] {});
  EXPECT_FALSE((AsMdspan<float, md::dextents<int, 3>, md::layout_stride>(huge).ok()));
  // Row-major strides, which are never beyond an int64.
  constexpr int64_t kMost = int64_t{1} << 31;
  const Tensor most = *Tensor::Wrap(static_cast<float*>(nullptr), {0, kMost, kMost}, {0, 0, 0},
                                    Device::Cpu(), [] {});
  const auto m = AsMdspan<float, md::dextents<int64_t, 3>, md::layout_stride>(most);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->stride(0), kMost * kMost);
  EXPECT_EQ(m->stride(1), kMost);
  EXPECT_EQ(m->stride(2), 1);
}

TEST(AsMdspan, AReadOnlyTensorNeedsConst) {
  const Tensor t = Iota({2, 2}).ReadOnly();
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(t)), HasSubstr("read-only"));
  const auto m = AsMdspan<const float, Matrix>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  static_assert(std::is_same_v<std::decay_t<decltype(*m)>::data_handle_type, const float*>);
}

TEST(AsMdspan, ElementTypesMustAgree) {
  EXPECT_THAT(ErrorOf(AsMdspan<double, Matrix>(Iota({2, 2}))), HasSubstr("float32"));
  EXPECT_FALSE((AsMdspan<int8_t, Vector>(Zeros({2}, kInt4)).ok())) << "sub-byte";
  EXPECT_FALSE((AsMdspan<uint16_t, Vector>(Zeros({2}, kBFloat16)).ok()));
  EXPECT_TRUE((AsMdspan<std::complex<float>, Vector>(Zeros({2}, kComplex64)).ok()));
  EXPECT_TRUE((AsMdspan<bool, Vector>(Zeros({2}, kBool)).ok()));
}

TEST(AsMdspan, MisalignedAndNullTensorsAreRefused) {
  alignas(8) char bytes[64] = {};
  auto* const odd = reinterpret_cast<float*>(bytes + 2);
  const Tensor t = *Tensor::Wrap(odd, {2, 2}, {2, 1}, Device::Cpu(), [] {});
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(t)), HasSubstr("aligned"));
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(t, Device::Cpu())), HasSubstr("misaligned"));
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(Tensor())), HasSubstr("null"));
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(Tensor(), Device::Cpu())), HasSubstr("null"));
}

TEST(AsMdspan, MemoryOfAnotherDeviceMustBeAskedFor) {
  const Tensor t = Zeros({2, 2}, kFloat32, Device::Cuda(1));
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(t)), HasSubstr("cuda:1"));
  const auto m = AsMdspan<float, Matrix>(t, Device::Cuda(1));
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->data_handle(), t.raw_data());
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(t, Device::Cuda(0))),
              AllOf(HasSubstr("on cuda:1"), HasSubstr("an mdspan of float32 on cuda:0")));
  EXPECT_FALSE((AsMdspan<double, Matrix>(t, Device::Cuda(1)).ok()));
  EXPECT_FALSE((AsMdspan<float, Matrix>(t.ReadOnly(), Device::Cuda(1)).ok()));
  const Tensor handle = Zeros({2, 2}, kFloat32, Device{DeviceType::kVulkan, 0});
  EXPECT_THAT(ErrorOf(AsMdspan<float, Matrix>(handle, handle.device())), HasSubstr("no pointers"));
}

TEST(AsMdspan, AWholeTypeMayBeNamed) {
  const Tensor t = Iota({2, 3});
  const auto m = AsMdspan<md::mdspan<float, Matrix, md::layout_right>>(t);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(At(*m, 1, 2), 5);
}

// An accessor that promises alignment, as std::aligned_accessor of C++26.
template <typename T>
struct Aligned64 {
  using offset_policy = md::default_accessor<T>;
  using element_type = T;
  using reference = T&;
  using data_handle_type = T*;
  static constexpr size_t byte_alignment = 64;
  reference access(T* p, size_t i) const { return p[i]; }
  T* offset(T* p, size_t i) const { return p + i; }
};

TEST(AsMdspan, TheAlignmentThatAnAccessorPromisesIsChecked) {
  alignas(64) static float values[32] = {};  // static: g++'s ASan does not align its stacks to 64
  using Wide = md::mdspan<float, Vector, md::layout_right, Aligned64<float>>;
  EXPECT_TRUE(AsMdspan<Wide>(*Tensor::Wrap(values, {8}, {1}, Device::Cpu(), [] {})).ok());
  EXPECT_THAT(ErrorOf(AsMdspan<Wide>(*Tensor::Wrap(values + 1, {8}, {1}, Device::Cpu(), [] {}))),
              HasSubstr("aligned"));
}

}  // namespace
}  // namespace dovetail
