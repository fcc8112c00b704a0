// Compares driver_types.h with NVIDIA's own header: everything here is checked by the compiler.

#include "dovetail/devices/cuda/driver_types.h"

#include "dovetail/devices/cuda/cuda_vendor.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/gpu/vendor/testing/same_interface.h"
#include "gtest/gtest.h"

// Last, since it defines macros.
#include "cuda.h"

namespace {

namespace ours = dovetail::gpu;
using dovetail::gpu::kCalledAlike;
using dovetail::gpu::kPassedAlike;

#if CUDA_VERSION >= 12050  // which has all functions
#define DOVETAIL_CUDA_SYMBOL(name, need, parameters) \
  static_assert(kCalledAlike<decltype(&::name), decltype(ours::CudaSymbols::name)>);
#include "dovetail/devices/cuda/symbols.inc"
#undef DOVETAIL_CUDA_SYMBOL
#endif

#define DOVETAIL_CUDA_CONSTANT(name, value) static_assert(int{name} == value);
#include "dovetail/devices/cuda/driver_constants.inc"
#undef DOVETAIL_CUDA_CONSTANT
static_assert(ours::CudaVendor::kHostFlags ==
              (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));

DOVETAIL_SAME_FIELD(CUmemLocation, ours::CUmemLocation, type);
DOVETAIL_SAME_FIELD(CUmemLocation, ours::CUmemLocation, id);
static_assert(kPassedAlike<CUmemLocation, ours::CUmemLocation>);
DOVETAIL_SAME_FIELD(CUmemAccessDesc, ours::CUmemAccessDesc, location);
DOVETAIL_SAME_FIELD(CUmemAccessDesc, ours::CUmemAccessDesc, flags);
static_assert(kPassedAlike<CUmemAccessDesc, ours::CUmemAccessDesc>);
DOVETAIL_SAME_FIELD(CUmemPoolProps, ours::CUmemPoolProps, allocType);
DOVETAIL_SAME_FIELD(CUmemPoolProps, ours::CUmemPoolProps, handleTypes);
DOVETAIL_SAME_FIELD(CUmemPoolProps, ours::CUmemPoolProps, location);
static_assert(kPassedAlike<CUmemPoolProps, ours::CUmemPoolProps>);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, srcMemoryType);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, srcHost);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, srcDevice);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, srcPitch);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, dstMemoryType);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, dstHost);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, dstDevice);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, dstPitch);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, WidthInBytes);
DOVETAIL_SAME_FIELD(CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D, Height);
static_assert(kPassedAlike<CUDA_MEMCPY2D, ours::CUDA_MEMCPY2D>);
static_assert(kPassedAlike<CUipcMemHandle, ours::CUipcMemHandle>);
static_assert(kPassedAlike<CUipcEventHandle, ours::CUipcEventHandle>);

// ClassifyCode relies on these numbers.
static_assert(CUDA_SUCCESS == int{ours::kCodeSuccess});
static_assert(CUDA_ERROR_INVALID_VALUE == int{ours::kCodeInvalidValue});
static_assert(CUDA_ERROR_OUT_OF_MEMORY == int{ours::kCodeOutOfMemory});
static_assert(CUDA_ERROR_DEINITIALIZED == int{ours::kCodeDeinitialized});
static_assert(CUDA_ERROR_NO_DEVICE == int{ours::kCodeNoDevice});
static_assert(CUDA_ERROR_INVALID_DEVICE == int{ours::kCodeInvalidDevice});
static_assert(CUDA_ERROR_INVALID_CONTEXT == int{ours::kCodeInvalidContext});
static_assert(CUDA_ERROR_INVALID_HANDLE == int{ours::kCodeInvalidHandle});
static_assert(CUDA_ERROR_NOT_READY == int{ours::kCodeNotReady});
static_assert(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED == int{ours::kCodePeerAlreadyEnabled});
static_assert(CUDA_ERROR_CONTEXT_IS_DESTROYED == int{ours::kCodeContextIsDestroyed});
static_assert(CUDA_ERROR_NOT_SUPPORTED == int{ours::kCodeNotSupported});
static_assert(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED == int{ours::kCodeFirstOfCapture});
static_assert(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD == int{ours::kCodeLastOfCapture});

TEST(DriverTypes, AreThoseOfCudasHeader) {
  SUCCEED() << "this file compiles with the header of CUDA " << CUDA_VERSION;
}

}  // namespace
