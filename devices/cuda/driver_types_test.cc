// Compares driver_types.h with NVIDIA's own header: everything here is checked by the compiler.

#include "dovetail/devices/cuda/driver_types.h"

#include "dovetail/devices/cuda/cuda_vendor.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/gpu/vendor/testing/same_interface.h"
#include "gtest/gtest.h"

// Last, since it defines macros.
#include "cuda.h"

namespace dovetail::gpu {
namespace {

#if CUDA_VERSION >= 12050  // which has all functions
#define DOVETAIL_CUDA_SYMBOL(name, need, parameters) \
  static_assert(kCalledAlike<decltype(&::name), decltype(CudaSymbols::name)>);
#include "dovetail/devices/cuda/symbols.inc"
#undef DOVETAIL_CUDA_SYMBOL
#endif

#define DOVETAIL_CUDA_CONSTANT(name, value) static_assert(int{::name} == value);
#include "dovetail/devices/cuda/driver_constants.inc"
#undef DOVETAIL_CUDA_CONSTANT
static_assert(CudaVendor::kHostFlags == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));

DOVETAIL_SAME_FIELD(::CUmemLocation, CUmemLocation, type);
DOVETAIL_SAME_FIELD(::CUmemLocation, CUmemLocation, id);
static_assert(kPassedAlike<::CUmemLocation, CUmemLocation>);
DOVETAIL_SAME_FIELD(::CUmemAccessDesc, CUmemAccessDesc, location);
DOVETAIL_SAME_FIELD(::CUmemAccessDesc, CUmemAccessDesc, flags);
static_assert(kPassedAlike<::CUmemAccessDesc, CUmemAccessDesc>);
DOVETAIL_SAME_FIELD(::CUmemPoolProps, CUmemPoolProps, allocType);
DOVETAIL_SAME_FIELD(::CUmemPoolProps, CUmemPoolProps, handleTypes);
DOVETAIL_SAME_FIELD(::CUmemPoolProps, CUmemPoolProps, location);
static_assert(kPassedAlike<::CUmemPoolProps, CUmemPoolProps>);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, srcMemoryType);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, srcHost);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, srcDevice);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, srcPitch);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, dstMemoryType);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, dstHost);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, dstDevice);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, dstPitch);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, WidthInBytes);
DOVETAIL_SAME_FIELD(::CUDA_MEMCPY2D, CUDA_MEMCPY2D, Height);
static_assert(kPassedAlike<::CUDA_MEMCPY2D, CUDA_MEMCPY2D>);
static_assert(kPassedAlike<::CUipcMemHandle, CUipcMemHandle>);
static_assert(kPassedAlike<::CUipcEventHandle, CUipcEventHandle>);

// ClassifyCode relies on these numbers.
static_assert(CUDA_SUCCESS == int{kCodeSuccess});
static_assert(CUDA_ERROR_INVALID_VALUE == int{kCodeInvalidValue});
static_assert(CUDA_ERROR_OUT_OF_MEMORY == int{kCodeOutOfMemory});
static_assert(CUDA_ERROR_DEINITIALIZED == int{kCodeDeinitialized});
static_assert(CUDA_ERROR_NO_DEVICE == int{kCodeNoDevice});
static_assert(CUDA_ERROR_INVALID_DEVICE == int{kCodeInvalidDevice});
static_assert(CUDA_ERROR_INVALID_CONTEXT == int{kCodeInvalidContext});
static_assert(CUDA_ERROR_INVALID_HANDLE == int{kCodeInvalidHandle});
static_assert(CUDA_ERROR_NOT_READY == int{kCodeNotReady});
static_assert(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED == int{kCodePeerAlreadyEnabled});
static_assert(CUDA_ERROR_CONTEXT_IS_DESTROYED == int{kCodeContextIsDestroyed});
static_assert(CUDA_ERROR_NOT_SUPPORTED == int{kCodeNotSupported});
static_assert(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED == int{kCodeFirstOfCapture});
static_assert(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD == int{kCodeLastOfCapture});

TEST(DriverTypes, AreThoseOfCudasHeader) {
  SUCCEED() << "this file compiles with the header of CUDA " << CUDA_VERSION;
}

}  // namespace
}  // namespace dovetail::gpu
