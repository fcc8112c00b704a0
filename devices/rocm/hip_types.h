// The types and constants of HIP that Dovetail uses, so that it builds without ROCm's headers. They
// have HIP's names and its binary interface in versions 5 to 7 (hip_types_test.cc compares the
// two); enumerations are plain ints. Internal to devices/rocm.

#ifndef DOVETAIL_DEVICES_ROCM_HIP_TYPES_H_
#define DOVETAIL_DEVICES_ROCM_HIP_TYPES_H_

#include <cstddef>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

using hipError_t = Result;
using hipDevice_t = int;
using hipDeviceptr_t = void*;

using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipModule_t = struct ihipModule_t*;
using hipFunction_t = struct ihipModuleSymbol_t*;
using hipMemPool_t = struct ihipMemPoolHandle_t*;

using hipDeviceAttribute_t = int;
using hipMemcpyKind = int;
using hipMemPoolAttr = int;
using hipPointer_attribute = int;
using hipStreamCaptureStatus = int;
using hipStreamCaptureMode = int;

// Names and values are in hip_constants.inc.
#define DOVETAIL_HIP_CONSTANT(name, value) inline constexpr int name = value;
#include "dovetail/devices/rocm/hip_constants.inc"
#undef DOVETAIL_HIP_CONSTANT

// What hipPointerGetAttributes fills: the fields that every version begins with, and room for more.
struct hipPointerAttribute_t {
  int type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
  char room[64];
};

struct hipMemLocation {
  int type;
  int id;
};

struct hipMemAccessDesc {
  hipMemLocation location;
  int flags;
};

struct hipMemPoolProps {
  int allocType;
  int handleTypes;
  hipMemLocation location;
  void* win32SecurityAttributes;
  unsigned char reserved[64];
};

struct hipIpcMemHandle_t {
  char reserved[kIpcHandleSize];
};
struct hipIpcEventHandle_t {
  char reserved[kIpcHandleSize];
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ROCM_HIP_TYPES_H_
