// The structs of tvm_ffi.h beside those of tvm-ffi's header.

#include "dovetail/python/kernels/tvm_ffi.h"

#include <tvm/ffi/c_api.h>

#include "gtest/gtest.h"

namespace dovetail::internal_kernels {
namespace {

TEST(TvmFfiTest, TheNumbersAreThoseOfTheHeader) {
  EXPECT_EQ(static_cast<int>(kTvmNone), kTVMFFINone);
  EXPECT_EQ(static_cast<int>(kTvmInt), kTVMFFIInt);
  EXPECT_EQ(static_cast<int>(kTvmBool), kTVMFFIBool);
  EXPECT_EQ(static_cast<int>(kTvmFloat), kTVMFFIFloat);
  EXPECT_EQ(static_cast<int>(kTvmDLTensor), kTVMFFIDLTensorPtr);
  EXPECT_EQ(static_cast<int>(kTvmRawString), kTVMFFIRawStr);
  EXPECT_EQ(static_cast<int>(kTvmSmallString), kTVMFFISmallStr);
  EXPECT_EQ(static_cast<int>(kTvmString), kTVMFFIStr);
  EXPECT_EQ(static_cast<int>(kTvmShape), kTVMFFIShape);
  EXPECT_EQ(static_cast<int>(kTvmTensor), kTVMFFITensor);
  EXPECT_EQ(static_cast<int>(kTvmArray), kTVMFFIArray);
  EXPECT_EQ(static_cast<int>(kTvmList), kTVMFFIList);
  EXPECT_EQ(static_cast<int>(kTvmBigInt), kTVMFFIBigInt);
}

TEST(TvmFfiTest, TheStructsAreThoseOfTheHeader) {
  EXPECT_EQ(sizeof(TvmObject), sizeof(TVMFFIObject));
  EXPECT_EQ(offsetof(TvmObject, type), offsetof(TVMFFIObject, type_index));
  EXPECT_EQ(sizeof(TvmAny), sizeof(TVMFFIAny));
  EXPECT_EQ(offsetof(TvmAny, small_size), offsetof(TVMFFIAny, small_str_len));
  EXPECT_EQ(offsetof(TvmAny, integer), offsetof(TVMFFIAny, v_int64));
  EXPECT_EQ(offsetof(TvmAny, letters), offsetof(TVMFFIAny, v_bytes));
  EXPECT_EQ(offsetof(TvmBytes, size), offsetof(TVMFFIByteArray, size));
  EXPECT_EQ(offsetof(TvmShape, size), offsetof(TVMFFIShapeCell, size));
  EXPECT_EQ(offsetof(TvmSequence, data), offsetof(TVMFFISeqCell, data));
  EXPECT_EQ(offsetof(TvmSequence, size), offsetof(TVMFFISeqCell, size));
}

}  // namespace
}  // namespace dovetail::internal_kernels
