#include "dovetail/python/exchange/routes/mismatch.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::python {
namespace {

alignas(64) float memory[64];

// A float32 tensor in `memory`, as a library lends it.
class Lent {
 public:
  Lent(std::vector<int64_t> shape, std::vector<int64_t> strides)
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    borrowed_.tensor = {.data = memory,
                        .device = {kDLCPU, 0},
                        .ndim = static_cast<int32_t>(shape_.size()),
                        .dtype = {kDLFloat, 32, 1},
                        .shape = shape_.data(),
                        .strides = strides_.data(),
                        .byte_offset = 0};
  }
  DovetailBorrowed* operator->() { return &borrowed_; }

  Mismatch Against(const DovetailRequirements& wanted) {
    DovetailCall call{};
    return FindMismatch(borrowed_, wanted, &call, &dimension);
  }
  Mismatch Against(const DovetailRequirements& wanted, DovetailCall* call) {
    ++call->position;
    return FindMismatch(borrowed_, wanted, call, &dimension);
  }
  int32_t dimension = -1;

 private:
  std::vector<int64_t> shape_, strides_;
  DovetailBorrowed borrowed_{};
};

Lent Matrix() { return Lent({2, 3}, {3, 1}); }

TEST(MismatchTest, WithoutRequirementsAnyTensorInHostMemoryFits) {
  EXPECT_EQ(Matrix().Against({}), Mismatch::kNone);
  EXPECT_EQ(Lent({}, {}).Against({}), Mismatch::kNone);
  EXPECT_EQ(Lent({4}, {-2}).Against({}), Mismatch::kNone);
}

TEST(MismatchTest, HostMemoryIncludesPinnedAndManagedMemory) {
  Lent x = Matrix();
  for (const DLDeviceType type : {kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged}) {
    x->tensor.device.device_type = type;
    EXPECT_EQ(x.Against({}), Mismatch::kNone) << type;
  }
  x->tensor.device.device_type = kDLCUDA;
  EXPECT_EQ(x.Against({}), Mismatch::kDevice);
  EXPECT_EQ(x.Against({.device_type = kDLCUDA}), Mismatch::kNone);
  EXPECT_EQ(x.Against({.device_type = DOVETAIL_ANY_DEVICE}), Mismatch::kNone);
  EXPECT_EQ(x.Against({.device_type = kDLROCM}), Mismatch::kDevice);
}

TEST(MismatchTest, EveryPartOfTheElementTypeCounts) {
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.dtype = {kDLFloat, 32, 1}}), Mismatch::kNone);
  EXPECT_EQ(x.Against({.dtype = {kDLInt, 32, 1}}), Mismatch::kDType);
  EXPECT_EQ(x.Against({.dtype = {kDLFloat, 64, 1}}), Mismatch::kDType);
  EXPECT_EQ(x.Against({.dtype = {kDLFloat, 32, 4}}), Mismatch::kDType);
}

TEST(MismatchTest, TheRankIsCheckedOnlyIfItIsRequired) {
  EXPECT_EQ(Matrix().Against({.ndim = 1}), Mismatch::kNone);
  EXPECT_EQ(Matrix().Against({.ndim = 1, .flags = DOVETAIL_NDIM}), Mismatch::kRank);
  EXPECT_EQ(Matrix().Against({.ndim = 2, .flags = DOVETAIL_NDIM}), Mismatch::kNone);
  EXPECT_EQ(Lent({}, {}).Against({.ndim = 0, .flags = DOVETAIL_NDIM}), Mismatch::kNone);
  constexpr int64_t kOne[] = {DOVETAIL_ANY_SIZE};
  EXPECT_EQ(Matrix().Against({.shape = kOne, .ndim = 1}), Mismatch::kRank);
  EXPECT_EQ(Matrix().Against({.strides = kOne, .ndim = 1}), Mismatch::kRank);
}

TEST(MismatchTest, AWrongSizeIsReportedWithItsDimension) {
  constexpr int64_t kShape[] = {DOVETAIL_ANY_SIZE, 4};
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.shape = kShape, .ndim = 2}), Mismatch::kSize);
  EXPECT_EQ(x.dimension, 1);
}

TEST(MismatchTest, ARequiredSizeOfZeroIsASize) {
  constexpr int64_t kNone[] = {0};
  DovetailCall call{};
  EXPECT_EQ(Lent({0}, {1}).Against({.shape = kNone, .ndim = 1}, &call), Mismatch::kNone);
  EXPECT_EQ(Lent({1}, {1}).Against({.shape = kNone, .ndim = 1}, &call), Mismatch::kSize);
  EXPECT_EQ(call.num_sizes, 0) << "and no name";
}

TEST(MismatchTest, SizesOfOneNameAgreeWithinAnArgumentAndAmongArguments) {
  constexpr int64_t kSquare[] = {DOVETAIL_SIZE('n'), DOVETAIL_SIZE('n')};
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.shape = kSquare, .ndim = 2}), Mismatch::kNamedSize);
  EXPECT_EQ(x.dimension, 1);

  constexpr int64_t kMatrix[] = {DOVETAIL_SIZE('m'), DOVETAIL_SIZE('n')};
  constexpr int64_t kVector[] = {DOVETAIL_SIZE('n')};
  DovetailCall call{};
  EXPECT_EQ(x.Against({.shape = kMatrix, .ndim = 2}, &call), Mismatch::kNone);
  EXPECT_EQ(Lent({3}, {1}).Against({.shape = kVector, .ndim = 1}, &call), Mismatch::kNone);
  EXPECT_EQ(Lent({2}, {1}).Against({.shape = kVector, .ndim = 1}, &call), Mismatch::kNamedSize);
  ASSERT_EQ(call.num_sizes, 2);
  EXPECT_EQ(call.sizes[FindNamedSize(call, DOVETAIL_SIZE('n'))].size, 3);
  EXPECT_EQ(call.sizes[FindNamedSize(call, DOVETAIL_SIZE('n'))].position, 1);
}

TEST(MismatchTest, ACallHasAtMostEightNames) {
  DovetailCall call{};
  for (char name = 'a'; name < 'a' + DOVETAIL_MAX_NAMED_SIZES; ++name) {
    const int64_t shape[] = {DOVETAIL_SIZE(name)};
    EXPECT_EQ(Lent({5}, {1}).Against({.shape = shape, .ndim = 1}, &call), Mismatch::kNone);
  }
  constexpr int64_t kNinth[] = {DOVETAIL_SIZE('z')};
  EXPECT_EQ(Lent({5}, {1}).Against({.shape = kNinth, .ndim = 1}, &call), Mismatch::kTooManyNames);
}

TEST(MismatchTest, ReadOnlyMemoryDoesNotFitAFunctionThatWrites) {
  Lent x = Matrix();
  x->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  EXPECT_EQ(x.Against({}), Mismatch::kNone);
  EXPECT_EQ(x.Against({.flags = DOVETAIL_WRITABLE}), Mismatch::kReadOnly);
}

TEST(MismatchTest, TheThreeKindsOfContiguity) {
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
    EXPECT_EQ(x.Against({.flags = DOVETAIL_C_CONTIGUOUS}) == Mismatch::kNone, c.c);
    EXPECT_EQ(x.Against({.flags = DOVETAIL_F_CONTIGUOUS}) == Mismatch::kNone, c.f);
    EXPECT_EQ(x.Against({.flags = DOVETAIL_INNER_CONTIGUOUS}) == Mismatch::kNone, c.inner);
  }
}

TEST(MismatchTest, StridesAreComparedWhereThereIsMoreThanOneElement) {
  constexpr int64_t kStrides[] = {DOVETAIL_ANY_STRIDE, 2};
  Lent x({2, 3}, {6, 1});
  EXPECT_EQ(x.Against({.strides = kStrides, .ndim = 2}), Mismatch::kStride);
  EXPECT_EQ(x.dimension, 1);
  EXPECT_EQ(Lent({2, 3}, {-6, 2}).Against({.strides = kStrides, .ndim = 2}), Mismatch::kNone);
  EXPECT_EQ(Lent({2, 1}, {1, 1}).Against({.strides = kStrides, .ndim = 2}), Mismatch::kNone);
}

TEST(MismatchTest, TheAlignmentIsThatOfElementZero) {
  Lent x = Matrix();
  EXPECT_EQ(x.Against({.alignment = 64}), Mismatch::kNone);
  x->tensor.byte_offset = 4;
  EXPECT_EQ(x.Against({.alignment = 4}), Mismatch::kNone);
  EXPECT_EQ(x.Against({.alignment = 8}), Mismatch::kAlignment);
  x->tensor.data = memory + 1;
  EXPECT_EQ(x.Against({.alignment = 8}), Mismatch::kNone);
}

TEST(MismatchTest, WithoutElementsThereIsNothingToAlign) {
  Lent none({3, 0}, {1, 1});
  none->tensor.data = reinterpret_cast<char*>(memory) + 1;
  EXPECT_EQ(none.Against({.alignment = 64}), Mismatch::kNone);
  Lent one({1, 1}, {1, 1});
  one->tensor.data = none->tensor.data;
  EXPECT_EQ(one.Against({.alignment = 1}), Mismatch::kNone);
  EXPECT_EQ(one.Against({.alignment = 2}), Mismatch::kAlignment);
}

TEST(MismatchTest, TheFirstOfSeveralIsReported) {
  constexpr int64_t kShape[] = {7, 7};
  Lent x = Matrix();
  x->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  DovetailRequirements wanted = {.dtype = {kDLInt, 32, 1},
                                 .device_type = kDLCUDA,
                                 .shape = kShape,
                                 .ndim = 2,
                                 .flags = DOVETAIL_WRITABLE | DOVETAIL_F_CONTIGUOUS};
  EXPECT_EQ(x.Against(wanted), Mismatch::kDevice);
  wanted.device_type = kDLCPU;
  EXPECT_EQ(x.Against(wanted), Mismatch::kDType);
  wanted.dtype = {};
  EXPECT_EQ(x.Against(wanted), Mismatch::kSize);
  wanted.shape = nullptr;
  EXPECT_EQ(x.Against(wanted), Mismatch::kReadOnly);
  wanted.flags &= ~uint32_t{DOVETAIL_WRITABLE};
  EXPECT_EQ(x.Against(wanted), Mismatch::kFContiguous);
}

}  // namespace
}  // namespace dovetail::python
