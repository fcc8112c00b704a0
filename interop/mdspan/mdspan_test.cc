// One test for each library of mdspans that the build has: cuda::std::mdspan always, std::mdspan
// where the standard library has it (bazel test --config=libcxx).

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/mdspan/cuda_mdspan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <version>
#ifdef __cpp_lib_mdspan
#include "dovetail/interop/mdspan/std_mdspan.h"
#endif

namespace dovetail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Cuda {
  template <typename Index, size_t... kSizes>
  using Extents = cuda::std::extents<Index, kSizes...>;
  template <size_t kRank>
  using Dims = cuda::std::dextents<int64_t, kRank>;
  using Right = cuda::std::layout_right;
  using Left = cuda::std::layout_left;
  using Stride = cuda::std::layout_stride;
  template <typename... Args>
  using Mdspan = cuda::std::mdspan<Args...>;
  template <typename T, size_t kSize>
  using Array = cuda::std::array<T, kSize>;
  static constexpr size_t kDynamic = cuda::std::dynamic_extent;
};

#ifdef __cpp_lib_mdspan
struct Std {
  template <typename Index, size_t... kSizes>
  using Extents = std::extents<Index, kSizes...>;
  template <size_t kRank>
  using Dims = std::dextents<int64_t, kRank>;
  using Right = std::layout_right;
  using Left = std::layout_left;
  using Stride = std::layout_stride;
  template <typename... Args>
  using Mdspan = std::mdspan<Args...>;
  template <typename T, size_t kSize>
  using Array = std::array<T, kSize>;
  static constexpr size_t kDynamic = std::dynamic_extent;
};
using Libraries = ::testing::Types<Cuda, Std>;
#else
using Libraries = ::testing::Types<Cuda>;
#endif

// A tensor over the floats 0 to 63, from `first` on.
Tensor Counting(std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t first = 0,
                Device device = Device::Cpu()) {
  auto memory = std::make_shared<std::vector<float>>(64);
  std::iota(memory->begin(), memory->end(), 0.0F);
  return Tensor::Wrap(memory->data() + first, shape, strides, device, [memory] {}).value();
}

template <typename Library>
class MdspanTest : public ::testing::Test {};
TYPED_TEST_SUITE(MdspanTest, Libraries);

template <typename StatusOrT>
std::string ErrorOf(const StatusOrT& result) {
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(result.status().message());
}

TYPED_TEST(MdspanTest, ARowMajorTensorIsReadAndWrittenInPlace) {
  Tensor x = Counting({2, 3}, {3, 1});
  auto m = AsMdspan<float, typename TypeParam::template Dims<2>>(x).value();
  static_assert(std::is_same_v<typename decltype(m)::layout_type, typename TypeParam::Right>);
  EXPECT_EQ(m.data_handle(), x.raw_data());
  EXPECT_EQ(m.extent(0), 2);
  EXPECT_EQ(m.extent(1), 3);
  EXPECT_EQ(m.data_handle()[m.mapping()(1, 2)], 5);
}

TYPED_TEST(MdspanTest, EachLayoutTakesItsStrides) {
  using Dims = typename TypeParam::template Dims<2>;
  const Tensor rows = Counting({2, 3}, {3, 1}), columns = Counting({2, 3}, {1, 2}),
               gaps = Counting({2, 3}, {8, 2});
  EXPECT_TRUE((AsMdspan<float, Dims, typename TypeParam::Right>(rows).ok()));
  EXPECT_TRUE((AsMdspan<float, Dims, typename TypeParam::Left>(columns).ok()));
  EXPECT_THAT(ErrorOf(AsMdspan<float, Dims, typename TypeParam::Right>(columns)),
              HasSubstr("layout_stride"));
  EXPECT_FALSE((AsMdspan<float, Dims, typename TypeParam::Left>(rows).ok()));
  EXPECT_FALSE((AsMdspan<float, Dims, typename TypeParam::Right>(gaps).ok()));
  for (const Tensor& x : {rows, columns, gaps}) {
    const auto m = AsMdspan<float, Dims, typename TypeParam::Stride>(x).value();
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        EXPECT_EQ(&m.data_handle()[m.mapping()(i, j)], *x.at<float>({i, j}));
      }
    }
  }
}

TYPED_TEST(MdspanTest, StridesThatNoMdspanHasAreRefused) {
  using Dims = typename TypeParam::template Dims<2>;
  const std::pair<std::vector<int64_t>, int64_t> refused[] = {
      {{-3, 1}, 3}, {{3, -1}, 2}, {{0, 1}, 0}, {{2, 1}, 0}, {{1, 1}, 0}};
  for (const auto& [strides, first] : refused) {
    SCOPED_TRACE(testing::PrintToString(strides));
    EXPECT_THAT(ErrorOf(AsMdspan<float, Dims, typename TypeParam::Stride>(
                    Counting({2, 3}, strides, first))),
                HasSubstr("Copied(tensor)"));
  }
}

TYPED_TEST(MdspanTest, StridesOfSingleElementsDoNotCount) {
  using Dims = typename TypeParam::template Dims<3>;
  const Tensor x = Counting({1, 4, 1}, {-7, 1, 0});
  const auto right = AsMdspan<float, Dims>(x).value();
  EXPECT_EQ(right.data_handle()[right.mapping()(0, 3, 0)], 3);
  const auto strided = AsMdspan<float, Dims, typename TypeParam::Stride>(x).value();
  EXPECT_EQ(strided.data_handle()[strided.mapping()(0, 3, 0)], 3);
  EXPECT_GT(strided.stride(0), 0);
}

TYPED_TEST(MdspanTest, ScalarsAndEmptyTensors) {
  const Tensor one = Counting({}, {});
  const auto scalar = AsMdspan<float, typename TypeParam::template Dims<0>>(one);
  EXPECT_EQ(scalar->data_handle()[scalar->mapping()()], 0);
  const Tensor empty = Counting({3, 0, 4}, {0, 4, 1});
  using Dims = typename TypeParam::template Dims<3>;
  EXPECT_EQ((AsMdspan<float, Dims>(empty)->extent(2)), 4);
  EXPECT_EQ((AsMdspan<float, Dims, typename TypeParam::Left>(empty)->size()), 0u);
  EXPECT_EQ((AsMdspan<float, Dims, typename TypeParam::Stride>(empty)->size()), 0u);
}

TYPED_TEST(MdspanTest, StaticExtentsAreChecked) {
  using Fits = typename TypeParam::template Extents<int64_t, TypeParam::kDynamic, 3>;
  using Other = typename TypeParam::template Extents<int64_t, 2, 4>;
  const Tensor x = Counting({2, 3}, {3, 1});
  EXPECT_EQ((AsMdspan<float, Fits>(x)->extent(0)), 2);
  EXPECT_THAT(ErrorOf(AsMdspan<float, Other>(x)), HasSubstr("static extent"));
  EXPECT_THAT(ErrorOf(AsMdspan<float, typename TypeParam::template Dims<3>>(x)),
              HasSubstr("rank differs"));
}

TYPED_TEST(MdspanTest, TheIndexTypeMustHoldEveryOffset) {
  using Narrow = typename TypeParam::template Extents<uint8_t, TypeParam::kDynamic,
                                                      TypeParam::kDynamic>;
  std::vector<int8_t> bytes(300);
  Tensor x = Tensor::Wrap(std::move(bytes), {3, 100}).value();
  EXPECT_THAT(ErrorOf(AsMdspan<int8_t, Narrow>(x)), HasSubstr("int64_t"));
  EXPECT_TRUE((AsMdspan<int8_t, Narrow>(x.Slice(0, {.start = 0, .stop = 2}).value()).ok()));
}

TYPED_TEST(MdspanTest, ReadOnlyMemoryNeedsConst) {
  using Dims = typename TypeParam::template Dims<1>;
  const Tensor x = Counting({4}, {1}).ReadOnly();
  EXPECT_THAT(ErrorOf(AsMdspan<float, Dims>(x)), HasSubstr("read-only"));
  EXPECT_EQ((AsMdspan<const float, Dims>(x)->data_handle()[3]), 3);
}

TYPED_TEST(MdspanTest, OtherTypesDevicesAndNullAreRefused) {
  using Dims = typename TypeParam::template Dims<1>;
  EXPECT_THAT(ErrorOf(AsMdspan<int32_t, Dims>(Counting({4}, {1}))), HasSubstr("float32"));
  EXPECT_THAT(ErrorOf(AsMdspan<float, Dims>(Counting({4}, {1}, 0, Device::Cuda(0)))),
              HasSubstr("cuda"));
  EXPECT_FALSE((AsMdspan<float, Dims>(Tensor()).ok()));
  alignas(4) static char memory[20];
  EXPECT_THAT(ErrorOf(AsMdspan<float, Dims>(
                  Tensor::Wrap(reinterpret_cast<float*>(memory + 1), {4}, {1}, Device::Cpu(), [] {})
                      .value())),
              HasSubstr("align"));
}

TYPED_TEST(MdspanTest, AnMdspanIsBorrowed) {
  float memory[12] = {};
  using Dims = typename TypeParam::template Dims<2>;
  const typename TypeParam::template Mdspan<float, Dims> span(memory, 3, 4);
  Tensor x = ViewOf(span).value();
  EXPECT_EQ(x.raw_data(), memory);
  EXPECT_THAT(x.shape(), ElementsAre(3, 4));
  EXPECT_THAT(x.strides(), ElementsAre(4, 1));
  EXPECT_EQ(x.device(), Device::Cpu());
  const typename TypeParam::template Mdspan<const float, Dims, typename TypeParam::Left> left(
      memory, 3, 4);
  EXPECT_THAT(ViewOf(left)->strides(), ElementsAre(1, 3));
  EXPECT_TRUE(ViewOf(left)->is_read_only());
  EXPECT_EQ(ViewOf(span, Device::Cuda(1))->device(), Device::Cuda(1));
}

TYPED_TEST(MdspanTest, AnOwnerIsKeptAndADeleterCalledOnce) {
  auto memory = std::make_shared<std::vector<float>>(8);
  using Dims = typename TypeParam::template Dims<1>;
  using Span = typename TypeParam::template Mdspan<float, Dims, typename TypeParam::Stride>;
  const Span span(memory->data(), typename Span::mapping_type(
                                      Dims(4), typename TypeParam::template Array<int64_t, 1>{2}));
  {
    Tensor x = ViewOf(span, memory).value();
    EXPECT_EQ(memory.use_count(), 2);
    EXPECT_THAT(x.strides(), ElementsAre(2));
  }
  EXPECT_EQ(memory.use_count(), 1);
  std::vector<float*> freed;
  { Tensor x = ViewOf(span, [&](float* data) { freed.push_back(data); }).value(); }
  EXPECT_THAT(freed, ElementsAre(memory->data()));
}

TYPED_TEST(MdspanTest, ATensorComesBackOverTheSameMemory) {
  Tensor x = Counting({2, 3}, {8, 2});
  const auto span =
      AsMdspan<float, typename TypeParam::template Dims<2>, typename TypeParam::Stride>(x).value();
  Tensor back = ViewOf(span, x).value();
  EXPECT_EQ(back.raw_data(), x.raw_data());
  EXPECT_TRUE(back.layout() == x.layout());
}

}  // namespace
}  // namespace dovetail
