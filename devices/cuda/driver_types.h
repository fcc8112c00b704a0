// The types and constants of NVIDIA's driver that Dovetail uses, so that it builds without NVIDIA's
// headers. They have the names of cuda.h and its binary interface (driver_types_test.cc compares
// the two); enumerations are plain ints. Internal to devices/cuda.

#ifndef DOVETAIL_DEVICES_CUDA_DRIVER_TYPES_H_
#define DOVETAIL_DEVICES_CUDA_DRIVER_TYPES_H_

#include <cstddef>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

using CUresult = Result;
using CUdevice = int;
using CUdeviceptr = unsigned long long;  // NOLINT(google-runtime-int): the driver's own type

using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;

using CUdevice_attribute = int;
using CUpointer_attribute = int;
using CUmemPool_attribute = int;
using CUmemorytype = int;
using CUstreamCaptureStatus = int;
using CUstreamCaptureMode = int;

// Names and values are in driver_constants.inc.
#define DOVETAIL_CUDA_CONSTANT(name, value) inline constexpr int name = value;
#include "dovetail/devices/cuda/driver_constants.inc"
#undef DOVETAIL_CUDA_CONSTANT

struct CUmemLocation {
  int type;
  int id;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;
};

struct CUmemPoolProps {
  int allocType;
  int handleTypes;
  CUmemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;  // reserved before 12.2, and 0
  unsigned char reserved[56];
};

struct CUDA_MEMCPY2D {
  size_t srcXInBytes;
  size_t srcY;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  void* srcArray;
  size_t srcPitch;

  size_t dstXInBytes;
  size_t dstY;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  void* dstArray;
  size_t dstPitch;

  size_t WidthInBytes;
  size_t Height;
};

struct CUipcMemHandle {
  char reserved[kIpcHandleSize];
};
struct CUipcEventHandle {
  char reserved[kIpcHandleSize];
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_DRIVER_TYPES_H_
