#include "dovetail/interop/dlpack/parse.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

// Shape and strides as vectors.
struct Kept {
  std::vector<int64_t> shape, strides;
  int64_t count = -1;
  int abandoned = 0;
};
struct VectorDims {
  static constexpr bool kKeeps = true;
  Kept* kept;
  void Begin(int32_t rank, int64_t** shape, int64_t** strides) {
    kept->shape.assign(rank, -9);
    kept->strides.assign(rank, -9);
    *shape = kept->shape.data();
    *strides = kept->strides.data();
  }
  void Finish(int32_t, int64_t count) { kept->count = count; }
  void Abandon(int32_t) { ++kept->abandoned; }
};

class ParseTest : public testing::Test {
 protected:
  float data[24] = {};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {3, 1};
  DLTensor t = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
  ParsedTensor parsed;
  Kept kept;

  Defect Run(uint64_t flags = 0) { return Parse(t, flags, VectorDims{&kept}, &parsed); }
};

TEST_F(ParseTest, SaysWhereTheElementsLie) {
  t.byte_offset = 8;
  ASSERT_EQ(Run(DLPACK_FLAG_BITMASK_READ_ONLY), Defect::kNone);
  EXPECT_EQ(parsed.data, data + 2);
  EXPECT_EQ(parsed.nbytes, 24u);
  EXPECT_EQ(parsed.byte_offset, 0);
  EXPECT_EQ(parsed.device.device_type, kDLCPU);
  EXPECT_EQ(parsed.dtype.bits, 32);
  EXPECT_EQ(kept.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(kept.strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(kept.count, 6);
}

TEST_F(ParseTest, WritesRowMajorStridesForNull) {
  t.strides = nullptr;
  ASSERT_EQ(Run(), Defect::kNone);
  EXPECT_EQ(kept.strides, (std::vector<int64_t>{3, 1}));
}

TEST_F(ParseTest, NegativeStridesReachBelowElement0) {
  strides[0] = -3;
  t.data = data + 3;
  ASSERT_EQ(Run(), Defect::kNone);
  EXPECT_EQ(parsed.data, data);
  EXPECT_EQ(parsed.nbytes, 24u);
  EXPECT_EQ(parsed.byte_offset, 12);
}

TEST_F(ParseTest, PaddedElementsTakeAByteEach) {
  t.dtype = {kDLFloat4_e2m1fn, 4, 1};
  ASSERT_EQ(Run(), Defect::kNone);
  EXPECT_EQ(parsed.nbytes, 3u);
  ASSERT_EQ(Run(DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED), Defect::kNone);
  EXPECT_EQ(parsed.nbytes, 6u);
}

TEST_F(ParseTest, HandlesKeepTheirOffset) {
  t.device = {kDLVulkan, 3};
  t.byte_offset = 40;
  ASSERT_EQ(Run(), Defect::kNone);
  EXPECT_EQ(parsed.data, data);
  EXPECT_EQ(parsed.byte_offset, 40);
  EXPECT_EQ(parsed.device.device_id, 3);
  t.byte_offset = UINT64_MAX;
  EXPECT_EQ(Run(), Defect::kHandleOffset);
}

TEST_F(ParseTest, HostMemoryHasIndex0) {
  for (const DLDeviceType type : {kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged}) {
    t.device = {type, 5};
    ASSERT_EQ(Run(), Defect::kNone);
    EXPECT_EQ(parsed.device.device_id, 0);
  }
  t.device = {kDLCUDA, 5};
  ASSERT_EQ(Run(), Defect::kNone);
  EXPECT_EQ(parsed.device.device_id, 5);
}

TEST_F(ParseTest, EachDefectIsNamed) {
  EXPECT_EQ(Run(uint64_t{1} << 40), Defect::kFlags);
  t.dtype.bits = 33;
  EXPECT_EQ(Run(), Defect::kType);
  t.dtype = {kDLFloat, 32, 0};
  EXPECT_EQ(Run(), Defect::kType);
  t.dtype = {kDLFloat, 32, 1};
  t.device.device_id = -1;
  EXPECT_EQ(Run(), Defect::kDevice);
  t.device.device_id = 0;
  t.ndim = -1;
  EXPECT_EQ(Run(), Defect::kShape);
  t.ndim = 65;
  EXPECT_EQ(Run(), Defect::kShape);
  t.ndim = 2;
  t.shape = nullptr;
  EXPECT_EQ(Run(), Defect::kShape);
  t.shape = shape;
  EXPECT_EQ(kept.abandoned, 0);  // nothing was begun
  shape[1] = -3;
  EXPECT_EQ(Run(), Defect::kShape);
  EXPECT_EQ(kept.abandoned, 1);
  shape[1] = 3;
  strides[0] = INT64_MAX / 4;
  EXPECT_EQ(Run(), Defect::kBytes);
  strides[0] = 3;
  t.byte_offset = UINT64_MAX - 8;
  EXPECT_EQ(Run(), Defect::kAddress);
  t.byte_offset = 0;
  t.data = nullptr;
  EXPECT_EQ(Run(), Defect::kNull);
}

TEST_F(ParseTest, ATensorWithoutElementsNeedsNoData) {
  shape[0] = 0;
  t.data = nullptr;
  t.byte_offset = UINT64_MAX;
  ASSERT_EQ(Parse(t, 0, NoDims(), &parsed), Defect::kNone);
  EXPECT_EQ(parsed.nbytes, 0u);
  ASSERT_EQ(Run(), Defect::kNone);
  EXPECT_EQ(kept.count, 0);
}

// The fast branch may decline, but never answer otherwise.
TEST_F(ParseTest, TheFastBranchAgreesWithTheGeneralOne) {
  std::mt19937_64 random(20261128);
  const auto pick = [&](std::vector<int64_t> of) { return of[random() % of.size()]; };
  int fast = 0;
  for (int i = 0; i < 200000; ++i) {
    int64_t sizes[8], steps[8];
    for (int64_t& size : sizes) {
      size = pick({1, 2, 3, 7, 1 << 15, 0, -1, int64_t{1} << 29, int64_t{1} << 31, INT64_MAX});
      if (random() % 16 != 0) size = 2;
    }
    for (int64_t& step : steps) {
      step = pick({0, 1, 2, 100, -1, int64_t{1} << 29, int64_t{1} << 33, INT64_MAX, INT64_MIN});
      if (random() % 16 != 0) step = 3;
    }
    DLTensor x = t;
    x.ndim = static_cast<int32_t>(pick({0, 1, 2, 3, 6, 7, 8}));
    x.shape = random() % 32 == 0 && x.ndim == 0 ? nullptr : sizes;
    x.strides = random() % 8 == 0 ? nullptr : steps;
    x.data =
        random() % 16 == 0 ? nullptr : reinterpret_cast<void*>(pick({4096, 1, -64, -(1 << 20)}));
    x.byte_offset = static_cast<uint64_t>(pick({0, 0, 64, -1, 1 << 19}));
    x.dtype = {static_cast<uint8_t>(pick({kDLInt, kDLFloat, kDLFloat, kDLFloat4_e2m1fn, 99})),
               static_cast<uint8_t>(pick({32, 32, 32, 4, 64, 0, 255})),
               static_cast<uint16_t>(pick({1, 1, 1, 2, 0, 65535}))};
    x.device = {static_cast<DLDeviceType>(pick({kDLCPU, kDLCPU, kDLCUDA, kDLMetal, 77})),
                static_cast<int32_t>(pick({0, 0, 1, -1}))};
    const auto flags = static_cast<uint64_t>(pick({0, 0, 1, 2, 4, 7, 8}));
    Kept plain_kept, any_kept;
    VectorDims plain_dims{&plain_kept};
    ParsedTensor plain, any;
    const Defect defect = internal_dlpack::ParseAny(x, flags, VectorDims{&any_kept}, &any);
    if (!internal_dlpack::ParsePlain(x, flags, plain_dims, &plain)) continue;
    ++fast;
    ASSERT_EQ(defect, Defect::kNone);
    EXPECT_EQ(plain.data, any.data);
    EXPECT_EQ(plain.nbytes, any.nbytes);
    EXPECT_EQ(plain.byte_offset, any.byte_offset);
    EXPECT_EQ(plain.device.device_type, any.device.device_type);
    EXPECT_EQ(plain.device.device_id, any.device.device_id);
    EXPECT_EQ(plain_kept.shape, any_kept.shape);
    EXPECT_EQ(plain_kept.strides, any_kept.strides);
    EXPECT_EQ(plain_kept.count, any_kept.count);
  }
  EXPECT_GT(fast, 1000);
}

}  // namespace
}  // namespace dovetail
