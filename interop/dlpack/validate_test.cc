#include "dovetail/interop/dlpack/validate.h"

#include <string>
#include <vector>

#include "dovetail/interop/dlpack/testing/foreign.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ValidateTest : public testing::Test {
 protected:
  Foreign<DLManagedTensorVersioned> foreign;
  DLTensor& t = foreign.tensor();
  CheckedTensor checked;
  Layout layout;

  absl::Status Run(uint64_t flags = 0) {
    return DefectError(FindDefect(t, flags, &checked, &layout), t, flags);
  }
  void ExpectValid(uint64_t flags = 0) {
    absl::Status status = Run(flags);
    EXPECT_TRUE(status.ok()) << status;
  }
  std::string Refusal(uint64_t flags = 0) {
    absl::Status status = Run(flags);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }
};

TEST_F(ValidateTest, SaysWhatTheStructSays) {
  ExpectValid();
  EXPECT_EQ(checked.device, Device::Cpu());
  EXPECT_EQ(checked.dtype, kFloat32);
  EXPECT_EQ(checked.options.access, Access::kReadWrite);
  EXPECT_EQ(checked.options.packing, Packing::kPacked);
  EXPECT_THAT(layout.shape(), ElementsAre(2, 3));
  EXPECT_THAT(layout.strides(), ElementsAre(3, 1));
  EXPECT_EQ(checked.data, foreign.data);
  EXPECT_EQ(checked.nbytes, 24u);
  EXPECT_EQ(checked.byte_offset, 0);
}

TEST_F(ValidateTest, RanksThatNoTensorHasAreRefusedBeforeAnythingIsRead) {
  for (int ndim : {-1, INT32_MIN, 65, 1000000, INT32_MAX}) {
    t.ndim = ndim;
    EXPECT_THAT(Refusal(), HasSubstr("ndim " + std::to_string(ndim)));
  }
}

// Rule 12.
TEST_F(ValidateTest, AShapeIsNeededOnlyWhereThereAreDimensions) {
  t.shape = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("2 dimensions but no shape (NULL)"));
  t.ndim = 0;
  t.strides = nullptr;
  ExpectValid();
  EXPECT_EQ(layout.num_elements(), 1);
  EXPECT_EQ(checked.nbytes, 4u);
}

// Rule 11.
TEST_F(ValidateTest, NullStridesAreRowMajor) {
  t.strides = nullptr;
  ExpectValid();
  EXPECT_THAT(layout.strides(), ElementsAre(3, 1));
}

TEST_F(ValidateTest, NegativeSizesAreRefused) {
  foreign.shape[1] = -3;
  EXPECT_THAT(Refusal(), HasSubstr("(2, -3) has a negative size"));
  foreign.shape[0] = 0;
  EXPECT_THAT(Refusal(), HasSubstr("negative"));
}

TEST_F(ValidateTest, OverflowingProductsAreRefused) {
  foreign.shape[0] = foreign.shape[1] = int64_t{1} << 32;
  EXPECT_THAT(Refusal(), HasSubstr("more elements"));
  foreign.shape[0] = 1;
  foreign.shape[1] = int64_t{1} << 61;  // elements fit, bytes do not
  EXPECT_THAT(Refusal(), HasSubstr("64-bit"));
}

// Rule 13.
TEST_F(ValidateTest, StridesThatReachBeyond64BitsAreRefused) {
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MIN / 2}) {
    foreign.strides[0] = stride;
    EXPECT_THAT(Refusal(), HasSubstr("64-bit")) << stride;
  }
  foreign.shape[0] = 1;  // the stride has no meaning now
  ExpectValid();
  foreign.shape[0] = 0;
  ExpectValid();
}

// Rule 14.
TEST_F(ValidateTest, NegativeAndZeroStridesReachWhereTheySay) {
  foreign.strides[0] = -3;
  t.data = &foreign.data[3];
  ExpectValid();
  EXPECT_EQ(checked.data, foreign.data);
  EXPECT_EQ(checked.nbytes, 24u);
  EXPECT_EQ(checked.byte_offset, 12);
  foreign.strides[0] = 0;
  ExpectValid();
  EXPECT_EQ(checked.data, &foreign.data[3]);
  EXPECT_EQ(checked.nbytes, 12u);
}

// Rules 16, 17, 19.
TEST_F(ValidateTest, OnlyTheTypesOfTheListAreKnown) {
  for (int code = 0; code < 256; ++code) {
    for (int bits = 0; bits < 256; ++bits) {
      t.dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
      if (ToDType(t.dtype).is_known()) {
        ExpectValid();
      } else {
        ASSERT_THAT(Refusal(), HasSubstr("code " + std::to_string(code) + ", " +
                                         std::to_string(bits) + " bits"));
      }
    }
  }
}

// dlpack.h 1.3 gives each narrow type one width.
// Rule 17.
TEST_F(ValidateTest, WidthsThatAKindDoesNotHaveAreRefused) {
  for (DLDataType d : {DLDataType{kDLBool, 1, 1}, DLDataType{kDLBfloat, 32, 1},
                       DLDataType{kDLFloat8_e4m3fn, 16, 1}, DLDataType{kDLFloat6_e2m3fn, 8, 1},
                       DLDataType{kDLFloat4_e2m1fn, 8, 1}, DLDataType{kDLComplex, 16, 1},
                       DLDataType{kDLComplex, 256 - 1, 1}, DLDataType{kDLFloat, 8, 1}}) {
    t.dtype = d;
    EXPECT_THAT(Refusal(), HasSubstr("bits"));
  }
}

// Rule 18.
TEST_F(ValidateTest, LanesAreKeptAndNoLanesRefused) {
  t.dtype = {kDLFloat4_e2m1fn, 4, 2};  // as PyTorch has it
  ExpectValid();
  EXPECT_EQ(checked.dtype.lanes, 2);
  EXPECT_EQ(checked.nbytes, 6u);
  t.dtype = {kDLFloat, 32, 4};
  ExpectValid();
  EXPECT_EQ(checked.nbytes, 96u);
  t.dtype = {kDLFloat, 32, 0};
  EXPECT_THAT(Refusal(), HasSubstr("0 lanes"));
}

// Rule 5.
TEST_F(ValidateTest, FlagsAreUnderstoodOrRefusedByName) {
  ExpectValid(DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_EQ(checked.options.access, Access::kReadOnly);
  ExpectValid(DLPACK_FLAG_BITMASK_IS_COPIED);
  EXPECT_EQ(checked.options.access, Access::kReadWrite);
  ExpectValid(DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
  EXPECT_EQ(checked.options.packing, Packing::kPadded);
  for (int bit = 3; bit < 64; ++bit) {
    EXPECT_FALSE(Run(uint64_t{1} << bit).ok()) << bit;
  }
  EXPECT_THAT(Refusal(0x19), HasSubstr("0x18"));
}

// Rule 18.
TEST_F(ValidateTest, SubByteElementsArePackedUnlessTheFlagSaysPadded) {
  t.dtype = {kDLFloat4_e2m1fn, 4, 1};
  ExpectValid();
  EXPECT_EQ(checked.nbytes, 3u);
  ExpectValid(DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
  EXPECT_EQ(checked.nbytes, 6u);
}

// Rules 8, 12.
TEST_F(ValidateTest, ElementZeroIsAtByteOffsetWithAndWithoutStridesAndShape) {
  t.byte_offset = 4;
  for (bool has_strides : {true, false}) {
    t.strides = has_strides ? foreign.strides : nullptr;
    ExpectValid();
    EXPECT_EQ(checked.data, &foreign.data[1]);
    EXPECT_EQ(checked.byte_offset, 0);
  }
  t.ndim = 0;
  t.shape = nullptr;
  ExpectValid();
  EXPECT_EQ(checked.data, &foreign.data[1]);
}

TEST_F(ValidateTest, OffsetsBeyondTheAddressSpaceAreRefused) {
  for (uint64_t offset : {UINT64_MAX, UINT64_MAX - 24}) {
    t.byte_offset = offset;
    EXPECT_THAT(Refusal(), HasSubstr("beyond the address space")) << offset;
  }
  t.byte_offset = 0;
  t.data = reinterpret_cast<void*>(UINTPTR_MAX - 22);
  EXPECT_THAT(Refusal(), HasSubstr("beyond the address space"));
  t.data = reinterpret_cast<void*>(uintptr_t{8});
  foreign.strides[0] = -3;
  EXPECT_THAT(Refusal(), HasSubstr("beyond the address space"));
}

// Rule 10.
TEST_F(ValidateTest, ElementsNeedDataAndNoElementsDoNot) {
  t.data = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("no data (NULL)"));
  foreign.shape[0] = 0;
  ExpectValid();
  EXPECT_EQ(checked.nbytes, 0u);
  t.data = reinterpret_cast<void*>(uintptr_t{0xdead});  // never dereferenced
  t.byte_offset = UINT64_MAX;
  ExpectValid();
  EXPECT_EQ(checked.byte_offset, 0);
  t.device = {kDLMetal, 0};
  ExpectValid();
  EXPECT_EQ(checked.byte_offset, 0);
}

// Rule 9.
TEST_F(ValidateTest, AlignmentIsNobodysDuty) {
  t.data = reinterpret_cast<char*>(foreign.data) + 1;
  foreign.shape[0] = 1;
  ExpectValid();
  EXPECT_EQ(checked.data, t.data);
}

// Rule 19.
TEST_F(ValidateTest, ADeviceCodeOutsideTheHeaderPassesThroughAsAnOpaqueHandle) {
  for (int code : {0, 5, 6, 42, -7, INT32_MAX}) {
    t.device = {static_cast<DLDeviceType>(code), 3};
    t.byte_offset = 128;
    ExpectValid();
    EXPECT_EQ(static_cast<int>(checked.device.type), code);
    EXPECT_EQ(checked.device.index, 3);
    EXPECT_EQ(checked.data, foreign.data);
    EXPECT_EQ(checked.byte_offset, 128);
  }
}

// Rule 21.
TEST_F(ValidateTest, NothingIsAddedToOpaqueHandles) {
  t.device = {kDLMetal, 1};
  t.byte_offset = 1000;
  foreign.strides[0] = -3;
  ExpectValid();
  EXPECT_EQ(checked.data, foreign.data);
  EXPECT_EQ(checked.byte_offset, 1000);
  t.data = nullptr;  // a valid value for a handle
  ExpectValid();
}

TEST_F(ValidateTest, OffsetsFromOpaqueHandlesFit64Bits) {
  t.device = {kDLOpenCL, 0};
  for (uint64_t offset : {UINT64_MAX, uint64_t{1} << 63, uint64_t{INT64_MAX} - 23}) {
    t.byte_offset = offset;
    EXPECT_THAT(Refusal(), HasSubstr("64-bit offset")) << offset;
  }
  t.byte_offset = uint64_t{INT64_MAX} - 24;
  ExpectValid();
}

// Rule 20.
TEST_F(ValidateTest, DeviceIdsAreNotNegativeAndMeanNothingForHostMemory) {
  t.device = {kDLCUDA, -1};
  EXPECT_THAT(Refusal(), HasSubstr("device id is -1"));
  t.device = {kDLCUDA, 7};
  ExpectValid();
  EXPECT_EQ(checked.device, Device::Cuda(7));
  for (DLDeviceType type : {kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged}) {
    t.device = {type, 7};
    ExpectValid();
    EXPECT_EQ(checked.device.index, 0);
  }
}

// Rules 2, 3.
TEST_F(ValidateTest, VersionsOfThisMajorAreReadAndOthersRefused) {
  for (uint32_t minor : {0u, 1u, 3u, 99u}) {
    EXPECT_TRUE(ValidateVersion({DLPACK_MAJOR_VERSION, minor}).ok()) << minor;
  }
  for (uint32_t major : {0u, 2u, UINT32_MAX}) {
    absl::Status status = ValidateVersion({major, 3});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("max_version=(1, 3)"));
  }
}

}  // namespace
}  // namespace dovetail
