// What XLA publishes of its foreign function interface, as far as it calls kernels. The package
// compiles and links without XLA.
//
// Source: xla/ffi/api/c_api.h of jaxlib 0.10.2, version 0.3 of the interface. What is here is the
// same in 0.1 and 0.2 (jaxlib 0.4.38, 0.6.2, 0.8.1). A test compares it with the header.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_XLA_FFI_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_XLA_FFI_H_

#include <cstddef>
#include <cstdint>

#include "dlpack/dlpack.h"

namespace dovetail::python {

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
  void (*error_functions[2])();
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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_XLA_FFI_H_
