// The structs of xla_ffi.h beside those of XLA's header.

#include "dovetail/python/kernels/xla_ffi.h"

#include "gtest/gtest.h"
#include "xla/ffi/api/c_api.h"

namespace dovetail::internal_kernels {
namespace {

#define EXPECT_SAME(ours, field, theirs, their_field)                     \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field) && \
                sizeof(std::declval<ours>().field) == sizeof(std::declval<theirs>().their_field))

EXPECT_SAME(XlaExtension, type, XLA_FFI_Extension_Base, type);
EXPECT_SAME(XlaApiVersion, major, XLA_FFI_Api_Version, major_version);
EXPECT_SAME(XlaApiVersion, minor, XLA_FFI_Api_Version, minor_version);
EXPECT_SAME(XlaMetadata, api_version, XLA_FFI_Metadata, api_version);
EXPECT_SAME(XlaMetadata, traits, XLA_FFI_Metadata, traits);
EXPECT_SAME(XlaMetadata, state_type, XLA_FFI_Metadata, state_type_id);
EXPECT_SAME(XlaMetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);
EXPECT_SAME(XlaErrorCreateArgs, message, XLA_FFI_Error_Create_Args, message);
EXPECT_SAME(XlaErrorCreateArgs, code, XLA_FFI_Error_Create_Args, errc);
EXPECT_SAME(XlaErrorDestroyArgs, error, XLA_FFI_Error_Destroy_Args, error);
EXPECT_SAME(XlaApi, error_destroy, XLA_FFI_Api, XLA_FFI_Error_Destroy);
EXPECT_SAME(XlaStreamArgs, context, XLA_FFI_Stream_Get_Args, ctx);
EXPECT_SAME(XlaStreamArgs, stream, XLA_FFI_Stream_Get_Args, stream);
EXPECT_SAME(XlaDeviceOrdinalArgs, ordinal, XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);
EXPECT_SAME(XlaApi, version, XLA_FFI_Api, api_version);
EXPECT_SAME(XlaApi, error_create, XLA_FFI_Api, XLA_FFI_Error_Create);
EXPECT_SAME(XlaApi, get_stream, XLA_FFI_Api, XLA_FFI_Stream_Get);
EXPECT_SAME(XlaApi, get_device_ordinal, XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
EXPECT_SAME(XlaBuffer, dtype, XLA_FFI_Buffer, dtype);
EXPECT_SAME(XlaBuffer, data, XLA_FFI_Buffer, data);
EXPECT_SAME(XlaBuffer, rank, XLA_FFI_Buffer, rank);
EXPECT_SAME(XlaBuffer, dims, XLA_FFI_Buffer, dims);
EXPECT_SAME(XlaBytes, size, XLA_FFI_ByteSpan, len);
EXPECT_SAME(XlaScalar, dtype, XLA_FFI_Scalar, dtype);
EXPECT_SAME(XlaScalar, value, XLA_FFI_Scalar, value);
EXPECT_SAME(XlaArray, size, XLA_FFI_Array, size);
EXPECT_SAME(XlaArray, data, XLA_FFI_Array, data);
EXPECT_SAME(XlaBuffers, size, XLA_FFI_Args, size);
EXPECT_SAME(XlaBuffers, all, XLA_FFI_Args, args);
EXPECT_SAME(XlaBuffers, all, XLA_FFI_Rets, rets);
EXPECT_SAME(XlaAttributes, types, XLA_FFI_Attrs, types);
EXPECT_SAME(XlaAttributes, names, XLA_FFI_Attrs, names);
EXPECT_SAME(XlaAttributes, all, XLA_FFI_Attrs, attrs);
EXPECT_SAME(XlaCallFrame, api, XLA_FFI_CallFrame, api);
EXPECT_SAME(XlaCallFrame, context, XLA_FFI_CallFrame, ctx);
EXPECT_SAME(XlaCallFrame, stage, XLA_FFI_CallFrame, stage);
EXPECT_SAME(XlaCallFrame, arguments, XLA_FFI_CallFrame, args);
EXPECT_SAME(XlaCallFrame, results, XLA_FFI_CallFrame, rets);
EXPECT_SAME(XlaCallFrame, attributes, XLA_FFI_CallFrame, attrs);

TEST(XlaFfiTest, TheNumbersAreThoseOfTheHeader) {
  EXPECT_EQ(kXlaMajor, XLA_FFI_API_MAJOR);
  EXPECT_EQ(XlaExtension::kMetadata, XLA_FFI_Extension_Metadata);
  EXPECT_EQ(static_cast<int>(kXlaArray), XLA_FFI_AttrType_ARRAY);
  EXPECT_EQ(static_cast<int>(kXlaScalar), XLA_FFI_AttrType_SCALAR);
  EXPECT_EQ(static_cast<int>(kXlaString), XLA_FFI_AttrType_STRING);
  EXPECT_EQ(static_cast<int>(kXlaInvalidArgument), XLA_FFI_Error_Code_INVALID_ARGUMENT);
  EXPECT_EQ(static_cast<int>(kXlaResourceExhausted), XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
  EXPECT_EQ(static_cast<int>(kXlaOutOfRange), XLA_FFI_Error_Code_OUT_OF_RANGE);
  EXPECT_EQ(static_cast<int>(kXlaInternal), XLA_FFI_Error_Code_INTERNAL);
}

}  // namespace
}  // namespace dovetail::internal_kernels
