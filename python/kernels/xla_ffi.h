// What XLA publishes of its foreign function interface, as far as it calls kernels. Nothing here
// needs XLA.
//
// Source: xla/ffi/api/c_api.h of jaxlib 0.10.2, version 0.3 of the interface. What is here is the
// same in 0.1 and 0.2 (jaxlib 0.4.38, 0.6.2, 0.8.1). A test compares it with the header.

#ifndef DOVETAIL_PYTHON_KERNELS_XLA_FFI_H_
#define DOVETAIL_PYTHON_KERNELS_XLA_FFI_H_

#include <cstddef>
#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/core/freestanding/type_widths.h"
#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/borrowed.h"
#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

inline constexpr int32_t kXlaMajor = 0;

// XLA_FFI_AttrType
enum XlaAttributeType : int32_t { kXlaArray = 1, kXlaScalar = 3, kXlaString = 4 };

// XLA_FFI_Error_Code
enum XlaErrorCode : int32_t {
  kXlaInvalidArgument = 3,
  kXlaResourceExhausted = 8,
  kXlaOutOfRange = 11,
  kXlaInternal = 13,
};

struct XlaError;    // opaque
struct XlaContext;  // opaque

struct XlaExtension {
  static constexpr int32_t kMetadata = 1;
  size_t struct_size;
  int32_t type;
  XlaExtension* next;
};

struct XlaApiVersion {
  size_t struct_size;
  XlaExtension* extension;
  int32_t major, minor;
};

struct XlaMetadata {
  size_t struct_size;
  XlaApiVersion api_version;
  uint32_t traits;
  int64_t state_type;  // since version 0.2
};
struct XlaMetadataExtension {
  XlaExtension base;
  XlaMetadata* metadata;
};

struct XlaErrorCreateArgs {
  size_t struct_size;
  XlaExtension* extension;
  const char* message;
  XlaErrorCode code;
};
struct XlaErrorDestroyArgs {
  size_t struct_size;
  XlaExtension* extension;
  XlaError* error;
};
struct XlaStreamArgs {
  size_t struct_size;
  XlaExtension* extension;
  XlaContext* context;
  void* stream;
};
struct XlaDeviceOrdinalArgs {
  size_t struct_size;
  XlaExtension* extension;
  XlaContext* context;
  int32_t ordinal;
};

struct XlaApi {
  size_t struct_size;
  XlaExtension* extension;
  XlaApiVersion version;
  const void* internal_api;
  XlaError* (*error_create)(XlaErrorCreateArgs*);
  void (*error_get_message)();
  void (*error_destroy)(XlaErrorDestroyArgs*);
  void (*handler_register)();
  XlaError* (*get_stream)(XlaStreamArgs*);
  void (*others[12])();
  XlaError* (*get_device_ordinal)(XlaDeviceOrdinalArgs*);  // where struct_size reaches it
};

struct XlaBuffer {
  size_t struct_size;
  XlaExtension* extension;
  int32_t dtype;  // of interop/xla_ffi/type_list.inc
  void* data;
  int64_t rank;
  int64_t* dims;  // row-major
};

struct XlaBytes {
  const char* data;
  size_t size;
};
struct XlaScalar {
  int32_t dtype;
  const void* value;
};
struct XlaArray {
  int32_t dtype;
  size_t size;
  const void* data;
};

struct XlaBuffers {  // XLA_FFI_Args and XLA_FFI_Rets
  size_t struct_size;
  XlaExtension* extension;
  int64_t size;
  const int32_t* types;
  XlaBuffer** all;
};

struct XlaAttributes {  // sorted by name
  size_t struct_size;
  XlaExtension* extension;
  int64_t size;
  const int32_t* types;
  const XlaBytes* const* names;
  const void* const* all;
};

struct XlaCallFrame {
  size_t struct_size;
  XlaExtension* extension;
  const XlaApi* api;
  XlaContext* context;
  int32_t stage;
  XlaBuffers arguments;
  XlaBuffers results;
  XlaAttributes attributes;
};

// The DLPack types by XLA's codes. Bits 0: there is none.
struct XlaTypes {
  DLDataType by_code[64];
};
namespace xla_types {
#define DOVETAIL_DTYPE(id, kind, bits, name) \
  constexpr DLDataType k##id = {internal_dtype::kind, bits, 1};
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
constexpr XlaTypes Make() {
  XlaTypes types = {};
#define DOVETAIL_XLA_TYPE(name, code, dtype) types.by_code[code] = dtype;
#include "dovetail/interop/xla_ffi/type_list.inc"
#undef DOVETAIL_XLA_TYPE
  return types;
}
}  // namespace xla_types
inline constexpr XlaTypes kXlaTypes = xla_types::Make();

inline DLDataType XlaTypeOf(int32_t code) {
  return static_cast<uint32_t>(code) < 64 ? kXlaTypes.by_code[code] : DLDataType{};
}

// A buffer's tensor, with NULL strides.
inline DLTensor XlaTensor(const XlaBuffer& buffer, DLDevice device) {
  const bool is_ranked = buffer.rank >= 0 && buffer.rank <= DOVETAIL_MAX_NDIM;
  DLTensor tensor;
  tensor.data = buffer.data;
  tensor.device = device;
  tensor.ndim = is_ranked ? static_cast<int32_t>(buffer.rank) : -1;
  tensor.dtype = XlaTypeOf(buffer.dtype);
  tensor.shape = buffer.dims;
  tensor.strides = nullptr;
  tensor.byte_offset = 0;
  return tensor;
}

// An error for XLA, of a kernel's failure.
[[gnu::cold, gnu::noinline]] inline void* XlaErrorOf(const XlaCallFrame& frame,
                                                     const KernelFailure& failure) {
  XlaErrorCode code = kXlaInternal;
  switch (failure.kind) {
    case DOVETAIL_VALUE_ERROR:
    case DOVETAIL_TYPE_ERROR:
      code = kXlaInvalidArgument;
      break;
    case DOVETAIL_INDEX_ERROR:
    case DOVETAIL_OVERFLOW_ERROR:
      code = kXlaOutOfRange;
      break;
    case DOVETAIL_MEMORY_ERROR:
      code = kXlaResourceExhausted;
      break;
    default:
      break;
  }
  XlaErrorCreateArgs error = {sizeof(XlaErrorCreateArgs), nullptr, failure.message.c_str(), code};
  return frame.api->error_create(&error);
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_XLA_FFI_H_
