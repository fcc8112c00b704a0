// Compares driver_types.h with NVIDIA's own header: everything here is checked by the compiler.

#include "dovetail/devices/cuda/driver_types.h"

#include <cstddef>
#include <type_traits>

#include "dovetail/devices/cuda/cuda_vendor.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "gtest/gtest.h"

// Last, since it defines macros.
#include "cuda.h"

namespace dovetail::gpu {
namespace {

// Whether values of the two types are passed in the same way.
template <typename A, typename B>
constexpr bool kPassedAlike =
    sizeof(A) == sizeof(B) && alignof(A) == alignof(B) &&
    std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_class_v<A> == std::is_class_v<B>;

template <typename Theirs, typename Ours>
constexpr bool kCalledAlike = false;
template <typename R1, typename... A1, typename R2, typename... A2>
constexpr bool kCalledAlike<R1 (*)(A1...), R2 (*)(A2...)> = [] {
  if constexpr (sizeof...(A1) != sizeof...(A2)) {
    return false;
  } else {
    return kPassedAlike<R1, R2> && (kPassedAlike<A1, A2> && ...);
  }
}();

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

#define EXPECT_SAME_FIELD(type, field)                                     \
  static_assert(offsetof(type, field) == offsetof(::type, field) &&        \
                sizeof(type::field) == sizeof(::type::field))

EXPECT_SAME_FIELD(CUmemLocation, type);
EXPECT_SAME_FIELD(CUmemLocation, id);
static_assert(kPassedAlike<CUmemLocation, ::CUmemLocation>);
EXPECT_SAME_FIELD(CUmemAccessDesc, location);
EXPECT_SAME_FIELD(CUmemAccessDesc, flags);
static_assert(kPassedAlike<CUmemAccessDesc, ::CUmemAccessDesc>);
EXPECT_SAME_FIELD(CUmemPoolProps, allocType);
EXPECT_SAME_FIELD(CUmemPoolProps, handleTypes);
EXPECT_SAME_FIELD(CUmemPoolProps, location);
static_assert(kPassedAlike<CUmemPoolProps, ::CUmemPoolProps>);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, srcMemoryType);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, srcHost);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, srcDevice);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, srcPitch);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, dstMemoryType);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, dstHost);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, dstDevice);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, dstPitch);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, WidthInBytes);
EXPECT_SAME_FIELD(CUDA_MEMCPY2D, Height);
static_assert(kPassedAlike<CUDA_MEMCPY2D, ::CUDA_MEMCPY2D>);
static_assert(kPassedAlike<CUipcMemHandle, ::CUipcMemHandle>);
static_assert(kPassedAlike<CUipcEventHandle, ::CUipcEventHandle>);

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
