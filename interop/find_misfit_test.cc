#include "dovetail/interop/find_misfit.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

// C++17, like the header: no designated initialisers.
namespace dovetail {
namespace internal_interop {
namespace {

using Numbers = std::vector<int64_t>;

constexpr uint32_t kFloat32 = 0x12002;  // any numbers will do
constexpr uint32_t kInt32 = 0x12000;
constexpr int32_t kCuda = 2, kCudaHost = 3, kManaged = 13;

// A tensor of float32 in the CPU's memory, at an address that suits every alignment.
class Offered {
 public:
  Offered(Numbers shape, Numbers strides) : shape_(std::move(shape)), strides_(std::move(strides)) {
    offer.rank = static_cast<int32_t>(shape_.size());
    offer.shape = shape_.data();
    offer.strides = strides_.data();
    offer.type = kFloat32;
    offer.device = 1;
    offer.address = 4096;
  }
  Offered(const Offered&) = delete;
  Offered& operator=(const Offered&) = delete;

  Misfit Against(const Requirements& want) const { return FindMisfit(offer, want); }
  Want Against(uint32_t flags) const {
    Requirements want;
    want.flags = flags;
    return Against(want).want;
  }

  Offer offer;

 private:
  Numbers shape_, strides_;
};

void ExpectMisfit(const Misfit& misfit, Want want, int32_t axis, int64_t found, int64_t wanted) {
  EXPECT_EQ(misfit.want, want);
  EXPECT_EQ(misfit.axis, axis);
  EXPECT_EQ(misfit.found, found);
  EXPECT_EQ(misfit.wanted, wanted);
}

TEST(FindMisfitTest, WhoWantsNothingTakesAnyTensor) {
  for (const int32_t device : {1, kCuda, 99}) {
    Offered x({2, 0, 3}, {-5, 0, 7});
    x.offer.device = device;
    x.offer.address = 1;
    x.offer.is_read_only = true;
    EXPECT_TRUE(x.Against(Requirements()).fits());
  }
}

TEST(FindMisfitTest, HostMemoryIsWhateverTheCpuCanRead) {
  Offered x({}, {});
  Requirements want;
  want.device = kHostMemory;
  for (const int32_t device : {1, kCudaHost, kManaged}) {
    x.offer.device = device;
    EXPECT_TRUE(x.Against(want).fits()) << device;
  }
  for (const int32_t device : {kCuda, 4, 99}) {
    x.offer.device = device;
    ExpectMisfit(x.Against(want), Want::kDevice, -1, device, kHostMemory);
  }
}

TEST(FindMisfitTest, ADeviceAndATypeAreThatOnesAlone) {
  Offered x({}, {});
  Requirements want;
  want.device = kCuda;
  ExpectMisfit(x.Against(want), Want::kDevice, -1, 1, kCuda);
  x.offer.device = kCuda;
  EXPECT_TRUE(x.Against(want).fits());
  want.type = kInt32;
  ExpectMisfit(x.Against(want), Want::kType, -1, kFloat32, kInt32);
}

TEST(FindMisfitTest, ARankIsWantedByItsFlagAndByWhateverHasOneEntryADimension) {
  const Offered x({2, 3}, {3, 1});
  const int64_t any[] = {kAnySize};
  Requirements want;
  want.rank = 1;
  EXPECT_TRUE(x.Against(want).fits());
  want.flags = kWantRank;
  ExpectMisfit(x.Against(want), Want::kRank, -1, 2, 1);
  for (const int64_t* Requirements::* member :
       {&Requirements::shape, &Requirements::max_shape, &Requirements::strides}) {
    Requirements by_entries;
    by_entries.rank = 1;
    by_entries.*member = any;
    EXPECT_EQ(x.Against(by_entries).want, Want::kRank);
  }
}

TEST(FindMisfitTest, SizesAreExactOrAtMost) {
  const Offered x({2, 3}, {3, 1});
  const int64_t shape[] = {kAnySize, 4}, most[] = {kAnySize, 2};
  Requirements want;
  want.rank = 2;
  want.shape = shape;
  ExpectMisfit(x.Against(want), Want::kSize, 1, 3, 4);
  want.shape = nullptr;
  want.max_shape = most;
  ExpectMisfit(x.Against(want), Want::kSize, 1, 3, 2);
}

TEST(FindMisfitTest, TheCallerDecidesOnSizesThatHaveNames) {
  const Offered x({2, 3}, {3, 1});
  const int64_t shape[] = {-7, -8};
  Requirements want;
  want.rank = 2;
  want.shape = shape;
  std::vector<int32_t> asked;
  const auto fits = [&asked](int32_t axis) { return asked.push_back(axis), axis == 0; };
  ExpectMisfit(FindMisfit(x.offer, want, fits), Want::kSize, 1, 3, -8);
  EXPECT_THAT(asked, testing::ElementsAre(0, 1));
  EXPECT_TRUE(FindMisfit(x.offer, want).fits()) << "any size, to whoever has no names";
}

TEST(FindMisfitTest, AnIndexHoldsEverySizeAndTheNumberOfElements) {
  Requirements want;
  want.max_index = MaxIndexOf<int8_t>();
  EXPECT_TRUE(Offered({127}, {1}).Against(want).fits());
  ExpectMisfit(Offered({0, 128}, {1, 1}).Against(want), Want::kIndex, 1, 128, 127);
  ExpectMisfit(Offered({12, 12}, {12, 1}).Against(want), Want::kIndex, -1, 144, 127);
  EXPECT_TRUE(Offered({2}, {1000}).Against(want).fits()) << "the elements have no index";
}

TEST(FindMisfitTest, AnIndexMayHoldWhatTheStridesSpan) {
  Requirements want;
  want.max_index = MaxIndexOf<int8_t>();
  want.flags = kWantIndexedMemory;
  EXPECT_TRUE(Offered({2}, {126}).Against(want).fits());
  EXPECT_EQ(Offered({2}, {127}).Against(want).want, Want::kIndex) << "128 elements from end to end";
  EXPECT_EQ(Offered({2, 2}, {64, -63}).Against(want).want, Want::kIndex);
  ExpectMisfit(Offered({1}, {-129}).Against(want), Want::kIndex, 0, -129, 127);
  EXPECT_TRUE(Offered({0, 100}, {100, 100}).Against(want).fits()) << "no element is read";
}

TEST(FindMisfitTest, TheLargestIndexIsThatOfTheTypeAsFarAsSizesGo) {
  EXPECT_EQ(MaxIndexOf<uint8_t>(), 255);
  EXPECT_EQ(MaxIndexOf<int32_t>(), INT32_MAX);
  EXPECT_EQ(MaxIndexOf<uint32_t>(), UINT32_MAX);
  EXPECT_EQ(MaxIndexOf<int64_t>(), kAnyIndex);
  EXPECT_EQ(MaxIndexOf<uint64_t>(), kAnyIndex);
}

TEST(FindMisfitTest, ReadOnlyMemoryIsNotWritable) {
  Offered x({3}, {1});
  EXPECT_EQ(x.Against(kWantWritable), Want::kNone);
  x.offer.is_read_only = true;
  EXPECT_EQ(x.Against(kWantWritable), Want::kAccess);
}

TEST(FindMisfitTest, NoStrideMayBeNegativeEvenOfOneElement) {
  Requirements want;
  want.flags = kWantNonNegative;
  ExpectMisfit(Offered({2, 1}, {0, -3}).Against(want), Want::kSign, 1, -3, 0);
  EXPECT_TRUE(Offered({2, 0}, {1, -3}).Against(want).fits()) << "no element";
}

TEST(FindMisfitTest, OrdersWithoutGaps) {
  struct Case {
    Numbers shape, strides;
    bool row_major, column_major, inner;
  };
  const Case cases[] = {
      {{2, 3}, {3, 1}, true, false, true},  {{2, 3}, {1, 2}, false, true, false},
      {{2, 3}, {6, 1}, false, false, true}, {{2, 3}, {-3, 1}, false, false, true},
      {{2, 3}, {0, 1}, false, false, true}, {{4}, {1}, true, true, true},
      {{4}, {-1}, false, false, false},     {{3, 2}, {4, 2}, false, false, false},
      {{1, 3}, {77, 1}, true, true, true},  {{3, 1}, {1, 77}, true, true, true},
      {{0, 3}, {5, 7}, true, true, true},   {{}, {}, true, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.shape) + testing::PrintToString(c.strides));
    const Offered x(c.shape, c.strides);
    EXPECT_EQ(x.Against(kWantRowMajor) == Want::kNone, c.row_major);
    EXPECT_EQ(x.Against(kWantColumnMajor) == Want::kNone, c.column_major);
    EXPECT_EQ(x.Against(kWantInnerDense) == Want::kNone, c.inner);
  }
}

TEST(FindMisfitTest, AGapIsToldByItsDimensionAndTheStrideThatWouldDo) {
  const Offered x({2, 3, 4}, {24, 8, 1});
  Requirements want;
  want.flags = kWantRowMajor;
  ExpectMisfit(x.Against(want), Want::kRowMajor, 1, 8, 4);
  want.flags = kWantColumnMajor;
  ExpectMisfit(x.Against(want), Want::kColumnMajor, 0, 24, 1);
  want.flags = kWantInnerDense;
  ExpectMisfit(Offered({2, 3}, {1, 2}).Against(want), Want::kInnerDense, 1, 2, 1);
}

TEST(FindMisfitTest, NestedStridesStepOverEachOtherInAnyOrder) {
  for (const auto& [shape, strides] : std::vector<std::pair<Numbers, Numbers>>{
           {{2, 3}, {3, 1}},
           {{2, 3}, {1, 2}},
           {{4, 2, 3}, {1, 40, 8}},
           {{3, 1}, {1, 1}},
           {{0, 3}, {3, 1}},
           {{9, 0}, {1, 9}},
           {{}, {}},
       }) {
    EXPECT_EQ(Offered(shape, strides).Against(kWantNested), Want::kNone)
        << testing::PrintToString(shape) << testing::PrintToString(strides);
  }
  Requirements want;
  want.flags = kWantNested;
  ExpectMisfit(Offered({3, 3}, {1, 1}).Against(want), Want::kNested, 1, 1, 3);
  ExpectMisfit(Offered({2, 2}, {3, 2}).Against(want), Want::kNested, 0, 3, 4);
  ExpectMisfit(Offered({2, 3}, {-3, 1}).Against(want), Want::kSign, 0, -3, 1);
  ExpectMisfit(Offered({2, 3}, {0, 1}).Against(want), Want::kSign, 0, 0, 1);
}

TEST(FindMisfitTest, OfNestedStridesThoseOfOneAndOfNoElementCountToo) {
  EXPECT_EQ(Offered({1, 3}, {2, 1}).Against(kWantNested), Want::kNested);
  EXPECT_EQ(Offered({1, 3}, {0, 1}).Against(kWantNested), Want::kSign);
  EXPECT_EQ(Offered({9, 0, 1}, {1, 5, 5}).Against(kWantNested), Want::kNested);
  constexpr int64_t kFar = int64_t{1} << 62;
  EXPECT_EQ(Offered({1, 2}, {kFar + 1, kFar}).Against(kWantNested), Want::kNested);
}

TEST(FindMisfitTest, StridesAreComparedWhereTheyLeadToAnElement) {
  const int64_t strides[] = {kAnyStride, 2};
  Requirements want;
  want.rank = 2;
  want.strides = strides;
  EXPECT_TRUE(Offered({2, 3}, {-6, 2}).Against(want).fits());
  ExpectMisfit(Offered({2, 3}, {-6, 1}).Against(want), Want::kStride, 1, 1, 2);
  EXPECT_TRUE(Offered({2, 1}, {-6, 1}).Against(want).fits());
  EXPECT_TRUE(Offered({0, 3}, {-6, 1}).Against(want).fits());
}

TEST(FindMisfitTest, TheAlignmentIsThatOfElementZeroIfThereIsOne) {
  Offered x({3}, {1});
  x.offer.address = 4096 + 4;
  Requirements want;
  for (const uint32_t alignment : {0, 1, 4}) {
    want.alignment = alignment;
    EXPECT_TRUE(x.Against(want).fits()) << alignment;
  }
  want.alignment = 8;
  ExpectMisfit(x.Against(want), Want::kAlignment, -1, 4100, 8);
  Offered none({0}, {1});
  none.offer.address = 1;
  EXPECT_TRUE(none.Against(want).fits());
}

TEST(FindMisfitTest, TheFirstOfSeveralMisfitsIsTold) {
  Offered x({2, 3}, {1, 2});
  x.offer.is_read_only = true;
  x.offer.address = 1;
  const int64_t shape[] = {7, 7};
  Requirements want;
  want.device = kCuda;
  want.type = kInt32;
  want.rank = 3;
  want.shape = shape;
  want.alignment = 8;
  want.flags = kWantRank | kWantWritable | kWantRowMajor;
  EXPECT_EQ(x.Against(want).want, Want::kDevice);
  want.device = kHostMemory;
  EXPECT_EQ(x.Against(want).want, Want::kType);
  want.type = 0;
  EXPECT_EQ(x.Against(want).want, Want::kRank);
  want.rank = 2;
  EXPECT_EQ(x.Against(want).want, Want::kSize);
  want.shape = nullptr;
  EXPECT_EQ(x.Against(want).want, Want::kAccess);
  want.flags = kWantRowMajor;
  EXPECT_EQ(x.Against(want).want, Want::kRowMajor);
  want.flags = 0;
  EXPECT_EQ(x.Against(want).want, Want::kAlignment);
}

}  // namespace
}  // namespace internal_interop
}  // namespace dovetail
