#include "dovetail/interop/mdspan/import.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/mdspan/test_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Matrix = md::dextents<int64_t, 2>;

TEST(ViewOfMdspan, BorrowsBothWays) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  const md::mdspan<float, Matrix> m(values, 2, 3);
  const absl::StatusOr<Tensor> t = ViewOf(m);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->raw_data(), values);
  EXPECT_THAT(t->shape(), ElementsAre(2, 3));
  EXPECT_THAT(t->strides(), ElementsAre(3, 1));
  EXPECT_EQ(t->dtype(), kFloat32);
  EXPECT_FALSE(t->is_read_only());
  **t->at<float>({1, 1}) = 40;
  EXPECT_EQ(values[4], 40);
}

TEST(ViewOfMdspan, ConstElementsAreReadOnly) {
  const double values[4] = {};
  const md::mdspan<const double, md::extents<int, 4>> m(values);
  EXPECT_TRUE(ViewOf(m)->is_read_only());
  EXPECT_EQ(ViewOf(m)->raw_data(), values);
}

TEST(ViewOfMdspan, LayoutsKeepTheirStrides) {
  int32_t values[24] = {};
  EXPECT_THAT((ViewOf(md::mdspan<int32_t, Matrix, md::layout_left>(values, 2, 3))->strides()),
              ElementsAre(1, 2));
  using Strided = md::layout_stride::mapping<Matrix>;
  const Strided mapping(Matrix(2, 3), md::array<int64_t, 2>{12, 2});
  const md::mdspan<int32_t, Matrix, md::layout_stride> m(values, mapping);
  EXPECT_THAT(ViewOf(m)->strides(), ElementsAre(12, 2));
  EXPECT_EQ(ViewOf(m)->storage()->nbytes(), 17 * 4);
}

TEST(ViewOfMdspan, IndexTypesOfAnyWidth) {
  int8_t values[6] = {};
  EXPECT_THAT((ViewOf(md::mdspan<int8_t, md::dextents<uint8_t, 2>>(values, 2, 3))->strides()),
              ElementsAre(3, 1));
  EXPECT_THAT((ViewOf(md::mdspan<int8_t, md::extents<size_t, 2, 3>>(values))->shape()),
              ElementsAre(2, 3));
  const md::mdspan<int8_t, md::dextents<size_t, 1>> too_long(values,
                                                             std::numeric_limits<size_t>::max());
  EXPECT_EQ(ViewOf(too_long).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ViewOfMdspan, RankZeroEmptyAndNull) {
  float value = 3;
  EXPECT_EQ((**ViewOf(md::mdspan<float, md::extents<int>>(&value))->at<float>({})), 3);
  const md::mdspan<float, Matrix> empty(nullptr, 0, 3);
  EXPECT_THAT(ViewOf(empty)->shape(), ElementsAre(0, 3));
  const md::mdspan<float, Matrix> without_memory(nullptr, 2, 3);
  EXPECT_THAT(std::string(ViewOf(without_memory).status().message()), HasSubstr("nullptr"));
}

TEST(ViewOfMdspan, MemoryOnAnotherDevice) {
  float values[6] = {};
  const md::mdspan<float, Matrix> m(values, 2, 3);
  EXPECT_EQ(ViewOf(m, Device::Cuda(1))->device(), Device::Cuda(1));
}

TEST(FromMdspan, ADeleterRunsOnceWithTheLastReference) {
  auto* const values = new float[6]{0, 1, 2, 3, 4, 5};
  int deleted = 0;
  Tensor t = *FromMdspan(md::mdspan<float, Matrix>(values, 2, 3), [&](float* data) {
    EXPECT_EQ(data, values);
    delete[] data;
    ++deleted;
  });
  Tensor row = *t.Select(0, 1);
  t = Tensor();
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(**row.at<float>({2}), 5);
  row = Tensor();
  EXPECT_EQ(deleted, 1);
}

TEST(FromMdspan, AnOwnerIsKeptUntilTheEnd) {
  auto shared = std::make_shared<const std::vector<int64_t>>(6, 7);
  const std::weak_ptr<const std::vector<int64_t>> watch = shared;
  {
    const Tensor t =
        *FromMdspan(md::mdspan<const int64_t, Matrix>(shared->data(), 2, 3), std::move(shared));
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(**t.at<const int64_t>({1, 2}), 7);
    EXPECT_TRUE(t.is_read_only());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(FromMdspan, NothingIsTakenOnAnError) {
  int deleted = 0;
  const md::mdspan<float, Matrix> without_memory(nullptr, 2, 3);
  EXPECT_FALSE(FromMdspan(without_memory, [&deleted] { ++deleted; }).ok());
  EXPECT_EQ(deleted, 0);
  auto owner = std::make_unique<int>(3);
  EXPECT_FALSE(FromMdspan(without_memory, std::move(owner)).ok());
  EXPECT_EQ(*owner, 3);  // NOLINT(bugprone-use-after-move)
}

// A layout that is not strided: every element is the first one of its row, rows are squares apart.
struct Squares {
  template <typename Extents>
  struct mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = Squares;
    Extents sizes;
    constexpr const Extents& extents() const { return sizes; }
    constexpr index_type required_span_size() const { return 100; }
    constexpr index_type operator()(index_type i) const { return i * i; }
    static constexpr bool is_always_unique() { return true; }
    static constexpr bool is_always_exhaustive() { return false; }
    static constexpr bool is_always_strided() { return false; }
    static constexpr bool is_unique() { return true; }
    static constexpr bool is_exhaustive() { return false; }
    static constexpr bool is_strided() { return false; }
    constexpr index_type stride(rank_type) const { return 0; }
    friend constexpr bool operator==(const mapping& a, const mapping& b) {
      return a.sizes == b.sizes;
    }
  };
};

// The elements of a vector from its end: strided, with a negative stride.
struct Reversed {
  template <typename Extents>
  struct mapping : Squares::mapping<Extents> {
    using Base = Squares::mapping<Extents>;
    using layout_type = Reversed;
    using typename Base::index_type;
    using typename Base::rank_type;
    constexpr index_type required_span_size() const { return this->sizes.extent(0); }
    constexpr index_type operator()(index_type i) const { return this->sizes.extent(0) - 1 - i; }
    static constexpr bool is_always_strided() { return true; }
    static constexpr bool is_strided() { return true; }
    constexpr index_type stride(rank_type) const { return -1; }
  };
};

using Vector = md::dextents<int, 1>;

TEST(ViewOfMdspan, ALayoutWithoutStridesIsRefused) {
  float values[100] = {};
  const md::mdspan<float, Vector, Squares> m(values, Squares::mapping<Vector>{Vector(10)});
  EXPECT_THAT(std::string(ViewOf(m).status().message()), HasSubstr("no strides"));
}

TEST(ViewOfMdspan, ALayoutThatStartsAtTheEndIsTaken) {
  float values[3] = {0, 1, 2};
  const md::mdspan<float, Vector, Reversed> m(values, Reversed::mapping<Vector>{{Vector(3)}});
  const Tensor t = *ViewOf(m);
  EXPECT_EQ(t.raw_data(), values + 2);
  EXPECT_THAT(t.strides(), ElementsAre(-1));
  EXPECT_EQ(**t.at<float>({0}), 2);
}

}  // namespace
}  // namespace dovetail
