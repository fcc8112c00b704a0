#include "dovetail/python/fit/fits.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::internal_fit {
namespace {

alignas(64) float memory[64];

// A float32 tensor in `memory`, as a library lends it.
class Lent {
 public:
  Lent(std::vector<int64_t> shape, std::vector<int64_t> strides)
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    borrowed_.tensor.data = memory;
    borrowed_.tensor.device = {kDLCPU, 0};
    borrowed_.tensor.ndim = static_cast<int32_t>(shape_.size());
    borrowed_.tensor.dtype = {kDLFloat, 32, 1};
    borrowed_.tensor.shape = shape_.data();
    borrowed_.tensor.strides = strides_.data();
  }
  DovetailBorrowed* operator->() { return &borrowed_; }

  // The first requirement that is not met. Both functions are asked, and agree.
  Want Against(const DovetailRequirements& wanted, DovetailCall* call) {
    ++call->position;
    const bool fits = Fits(borrowed_, wanted, call);
    const Misfit misfit = FindMismatch(borrowed_, wanted, call);
    EXPECT_EQ(fits, misfit.fits());
    dimension = misfit.axis;
    return misfit.want;
  }
  Want Against(const DovetailRequirements& wanted) {
    DovetailCall call{};
    return Against(wanted, &call);
  }
  int32_t dimension = -1;

 private:
  std::vector<int64_t> shape_, strides_;
  DovetailBorrowed borrowed_{};
};

Lent Matrix() { return Lent({2, 3}, {3, 1}); }

TEST(FitsTest, WithoutRequirementsAnyTensorInHostMemoryFits) {
  EXPECT_EQ(Matrix().Against({}), Want::kNone);
  EXPECT_EQ(Lent({}, {}).Against({}), Want::kNone);
  EXPECT_EQ(Lent({4}, {-2}).Against({}), Want::kNone);
}

TEST(FitsTest, HostMemoryIncludesPinnedAndManagedMemory) {
  Lent x = Matrix();
  for (const DLDeviceType type : {kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged}) {
    x->tensor.device.device_type = type;
    EXPECT_EQ(x.Against({}), Want::kNone) << type;
  }
  x->tensor.device.device_type = kDLCUDA;
  EXPECT_EQ(x.Against({}), Want::kDevice);
  EXPECT_EQ(x.Against({.device_type = kDLCUDA}), Want::kNone);
  EXPECT_EQ(x.Against({.device_type = DOVETAIL_ANY_DEVICE}), Want::kNone);
  EXPECT_EQ(x.Against({.device_type = kDLROCM}), Want::kDevice);
}

TEST(FitsTest, EveryPartOfTheElementTypeCounts) {
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.dtype = {kDLFloat, 32, 1}}), Want::kNone);
  EXPECT_EQ(x.Against({.dtype = {kDLInt, 32, 1}}), Want::kType);
  EXPECT_EQ(x.Against({.dtype = {kDLFloat, 64, 1}}), Want::kType);
  EXPECT_EQ(x.Against({.dtype = {kDLFloat, 32, 4}}), Want::kType);
}

TEST(FitsTest, TheRankIsCheckedOnlyIfItIsRequired) {
  EXPECT_EQ(Matrix().Against({.ndim = 1}), Want::kNone);
  EXPECT_EQ(Matrix().Against({.ndim = 1, .flags = DOVETAIL_NDIM}), Want::kRank);
  EXPECT_EQ(Matrix().Against({.ndim = 2, .flags = DOVETAIL_NDIM}), Want::kNone);
  EXPECT_EQ(Lent({}, {}).Against({.ndim = 0, .flags = DOVETAIL_NDIM}), Want::kNone);
  constexpr int64_t kOne[] = {DOVETAIL_ANY_SIZE};
  EXPECT_EQ(Matrix().Against({.shape = kOne, .ndim = 1}), Want::kRank);
  EXPECT_EQ(Matrix().Against({.strides = kOne, .ndim = 1}), Want::kRank);
}

TEST(FitsTest, AWrongSizeIsReportedWithItsDimension) {
  constexpr int64_t kShape[] = {DOVETAIL_ANY_SIZE, 4};
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.shape = kShape, .ndim = 2}), Want::kSize);
  EXPECT_EQ(x.dimension, 1);
}

TEST(FitsTest, ARequiredSizeOfZeroIsASize) {
  constexpr int64_t kNone[] = {0};
  DovetailCall call{};
  EXPECT_EQ(Lent({0}, {1}).Against({.shape = kNone, .ndim = 1}, &call), Want::kNone);
  EXPECT_EQ(Lent({1}, {1}).Against({.shape = kNone, .ndim = 1}, &call), Want::kSize);
  EXPECT_EQ(call.num_sizes, 0) << "and no name";
}

TEST(FitsTest, SizesOfOneNameAgreeWithinAnArgumentAndAmongArguments) {
  constexpr int64_t kSquare[] = {DOVETAIL_SIZE('n'), DOVETAIL_SIZE('n')};
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.shape = kSquare, .ndim = 2}), Want::kSize);
  EXPECT_EQ(x.dimension, 1);

  constexpr int64_t kMatrix[] = {DOVETAIL_SIZE('m'), DOVETAIL_SIZE('n')};
  constexpr int64_t kVector[] = {DOVETAIL_SIZE('n')};
  DovetailCall call{};
  EXPECT_EQ(x.Against({.shape = kMatrix, .ndim = 2}, &call), Want::kNone);
  EXPECT_EQ(Lent({3}, {1}).Against({.shape = kVector, .ndim = 1}, &call), Want::kNone);
  EXPECT_EQ(Lent({2}, {1}).Against({.shape = kVector, .ndim = 1}, &call), Want::kSize);
  ASSERT_EQ(call.num_sizes, 2);
  EXPECT_EQ(call.sizes[FindNamedSize(call, DOVETAIL_SIZE('n'))].size, 3);
  EXPECT_EQ(call.sizes[FindNamedSize(call, DOVETAIL_SIZE('n'))].position, 1);
}

TEST(FitsTest, ACallHasAtMostEightNames) {
  DovetailCall call{};
  for (char name = 'a'; name < 'a' + DOVETAIL_MAX_NAMED_SIZES; ++name) {
    const int64_t shape[] = {DOVETAIL_SIZE(name)};
    EXPECT_EQ(Lent({5}, {1}).Against({.shape = shape, .ndim = 1}, &call), Want::kNone);
  }
  constexpr int64_t kNinth[] = {DOVETAIL_SIZE('z')};
  EXPECT_EQ(Lent({5}, {1}).Against({.shape = kNinth, .ndim = 1}, &call), Want::kSize);
  EXPECT_EQ(FindNamedSize(call, DOVETAIL_SIZE('z')), call.num_sizes) << "has no room";
}

TEST(FitsTest, ReadOnlyMemoryDoesNotFitAFunctionThatWrites) {
  Lent x = Matrix();
  x->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  EXPECT_EQ(x.Against({}), Want::kNone);
  EXPECT_EQ(x.Against({.flags = DOVETAIL_WRITABLE}), Want::kAccess);
}

TEST(FitsTest, ElementsInOnePlaceAreNotWrittenUnlessThatIsAllowed) {
  Lent expanded({2, 3}, {0, 1});
  EXPECT_EQ(expanded.Against({}), Want::kNone);
  EXPECT_EQ(expanded.Against({.flags = DOVETAIL_WRITABLE}), Want::kRepeats);
  EXPECT_EQ(expanded.dimension, 0);
  EXPECT_EQ(expanded.Against({.flags = DOVETAIL_WRITABLE | DOVETAIL_ALLOW_REPEATS}), Want::kNone);
  EXPECT_EQ(Lent({1, 3}, {0, 1}).Against({.flags = DOVETAIL_WRITABLE}), Want::kNone);
  constexpr int64_t kStrides[] = {0, 1};
  EXPECT_EQ(expanded.Against({.strides = kStrides, .ndim = 2, .flags = DOVETAIL_WRITABLE}),
            Want::kNone);
  EXPECT_EQ(Lent({2, 0}, {0, 1}).Against({.flags = DOVETAIL_WRITABLE}), Want::kNone);
}

TEST(FitsTest, TheThreeKindsOfContiguity) {
  struct Case {
    std::vector<int64_t> shape, strides;
    bool c, f, inner;
  };
  const Case cases[] = {
      {{2, 3}, {3, 1}, true, false, true},
      {{2, 3}, {1, 2}, false, true, false},
      {{2, 3}, {6, 1}, false, false, true},   // gaps between rows
      {{2, 3}, {-3, 1}, false, false, true},  // upside down
      {{2, 3}, {0, 1}, false, false, true},   // broadcast
      {{4}, {1}, true, true, true},
      {{4}, {-1}, false, false, false},
      {{2}, {2}, false, false, false},  // two elements are enough for a gap
      {{3, 2}, {2, 1}, true, false, true},
      {{3, 2}, {4, 2}, false, false, false},
      {{2, 2}, {1, 2}, false, true, false},
      {{1, 3}, {77, 1}, true, true, true},  // strides of one element do not count
      {{3, 1}, {1, 77}, true, true, true},
      {{0, 3}, {5, 7}, true, true, true},  // nor do those without elements
      {{}, {}, true, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.shape) + testing::PrintToString(c.strides));
    Lent x(c.shape, c.strides);
    EXPECT_EQ(x.Against({.flags = DOVETAIL_C_CONTIGUOUS}) == Want::kNone, c.c);
    EXPECT_EQ(x.Against({.flags = DOVETAIL_F_CONTIGUOUS}) == Want::kNone, c.f);
    EXPECT_EQ(x.Against({.flags = DOVETAIL_INNER_CONTIGUOUS}) == Want::kNone, c.inner);
  }
}

TEST(FitsTest, StridesAreComparedWhereThereIsMoreThanOneElement) {
  constexpr int64_t kStrides[] = {DOVETAIL_ANY_STRIDE, 2};
  Lent x({2, 3}, {6, 1});
  EXPECT_EQ(x.Against({.strides = kStrides, .ndim = 2}), Want::kStride);
  EXPECT_EQ(x.dimension, 1);
  EXPECT_EQ(Lent({2, 3}, {-6, 2}).Against({.strides = kStrides, .ndim = 2}), Want::kNone);
  EXPECT_EQ(Lent({2, 1}, {1, 1}).Against({.strides = kStrides, .ndim = 2}), Want::kNone);
}

TEST(FitsTest, TheAlignmentIsThatOfElementZero) {
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.alignment = 64}), Want::kNone);
  x->tensor.byte_offset = 4;
  EXPECT_EQ(x.Against({.alignment = 4}), Want::kNone);
  EXPECT_EQ(x.Against({.alignment = 8}), Want::kAlignment);
  x->tensor.data = memory + 1;
  EXPECT_EQ(x.Against({.alignment = 8}), Want::kNone);
}

TEST(FitsTest, WithoutElementsThereIsNothingToAlign) {
  Lent none({3, 0}, {1, 1});
  none->tensor.data = reinterpret_cast<char*>(memory) + 1;
  EXPECT_EQ(none.Against({.alignment = 64}), Want::kNone);
  Lent one({1, 1}, {1, 1});
  one->tensor.data = none->tensor.data;
  EXPECT_EQ(one.Against({.alignment = 1}), Want::kNone);
  EXPECT_EQ(one.Against({.alignment = 2}), Want::kAlignment);
}

TEST(FitsTest, TheStridesOfNoElementsFitAny) {
  constexpr int64_t kStrides[] = {9, 1};
  EXPECT_EQ(Lent({3, 0}, {1, 1}).Against({.strides = kStrides, .ndim = 2}), Want::kNone);
}

TEST(FitsTest, TheFirstOfSeveralIsReported) {
  constexpr int64_t kShape[] = {7, 7};
  Lent x = Matrix();
  x->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  DovetailRequirements wanted = {};
  wanted.dtype = {kDLInt, 32, 1};
  wanted.device_type = kDLCUDA;
  wanted.shape = kShape;
  wanted.ndim = 2;
  wanted.flags = DOVETAIL_WRITABLE | DOVETAIL_F_CONTIGUOUS;
  EXPECT_EQ(x.Against(wanted), Want::kDevice);
  wanted.device_type = kDLCPU;
  EXPECT_EQ(x.Against(wanted), Want::kType);
  wanted.dtype = {};
  EXPECT_EQ(x.Against(wanted), Want::kSize);
  wanted.shape = nullptr;
  EXPECT_EQ(x.Against(wanted), Want::kAccess);
  wanted.flags &= ~uint32_t{DOVETAIL_WRITABLE};
  EXPECT_EQ(x.Against(wanted), Want::kColumnMajor);
}

}  // namespace
}  // namespace dovetail::internal_fit
