// Compares hip_types.h with HIP's own header: everything here is checked by the compiler.

#include "dovetail/devices/rocm/hip_types.h"

#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/gpu/vendor/testing/same_interface.h"
#include "dovetail/devices/rocm/hip_vendor.h"
#include "gtest/gtest.h"

// Last, since it defines macros.
#include "hip/hip_runtime_api.h"

namespace {

namespace ours = dovetail::gpu;
using dovetail::gpu::kCalledAlike;
using dovetail::gpu::kPassedAlike;

#define DOVETAIL_HIP_SYMBOL(name, need, result, parameters) \
  static_assert(kCalledAlike<decltype(&::name), decltype(ours::HipSymbols::name)>);
#define DOVETAIL_HIP_NEW_SYMBOL(name, need, result, parameters)
#include "dovetail/devices/rocm/symbols.inc"
#undef DOVETAIL_HIP_NEW_SYMBOL
#undef DOVETAIL_HIP_SYMBOL

#define DOVETAIL_HIP_CONSTANT(name, value) static_assert(int{name} == value);
#include "dovetail/devices/rocm/hip_constants.inc"
#undef DOVETAIL_HIP_CONSTANT

DOVETAIL_SAME_FIELD(hipPointerAttribute_t, ours::hipPointerAttribute_t, device);
DOVETAIL_SAME_FIELD(hipPointerAttribute_t, ours::hipPointerAttribute_t, devicePointer);
DOVETAIL_SAME_FIELD(hipPointerAttribute_t, ours::hipPointerAttribute_t, hostPointer);
DOVETAIL_SAME_FIELD(hipPointerAttribute_t, ours::hipPointerAttribute_t, isManaged);
DOVETAIL_SAME_FIELD(hipPointerAttribute_t, ours::hipPointerAttribute_t, allocationFlags);
static_assert(sizeof(hipPointerAttribute_t) <= sizeof(ours::hipPointerAttribute_t));
DOVETAIL_SAME_FIELD(hipMemLocation, ours::hipMemLocation, type);
DOVETAIL_SAME_FIELD(hipMemLocation, ours::hipMemLocation, id);
static_assert(kPassedAlike<hipMemLocation, ours::hipMemLocation>);
DOVETAIL_SAME_FIELD(hipMemAccessDesc, ours::hipMemAccessDesc, location);
DOVETAIL_SAME_FIELD(hipMemAccessDesc, ours::hipMemAccessDesc, flags);
static_assert(kPassedAlike<hipMemAccessDesc, ours::hipMemAccessDesc>);
DOVETAIL_SAME_FIELD(hipMemPoolProps, ours::hipMemPoolProps, allocType);
DOVETAIL_SAME_FIELD(hipMemPoolProps, ours::hipMemPoolProps, handleTypes);
DOVETAIL_SAME_FIELD(hipMemPoolProps, ours::hipMemPoolProps, location);
static_assert(kPassedAlike<hipMemPoolProps, ours::hipMemPoolProps>);
static_assert(kPassedAlike<hipIpcMemHandle_t, ours::hipIpcMemHandle_t>);
static_assert(kPassedAlike<hipIpcEventHandle_t, ours::hipIpcEventHandle_t>);

// ClassifyCode relies on these numbers.
static_assert(hipSuccess == int{ours::kCodeSuccess});
static_assert(hipErrorInvalidValue == int{ours::kCodeInvalidValue});
static_assert(hipErrorOutOfMemory == int{ours::kCodeOutOfMemory});
static_assert(hipErrorDeinitialized == int{ours::kCodeDeinitialized});
static_assert(hipErrorNoDevice == int{ours::kCodeNoDevice});
static_assert(hipErrorInvalidDevice == int{ours::kCodeInvalidDevice});
static_assert(hipErrorInvalidContext == int{ours::kCodeInvalidContext});
static_assert(hipErrorInvalidHandle == int{ours::kCodeInvalidHandle});
static_assert(hipErrorNotReady == int{ours::kCodeNotReady});
static_assert(hipErrorPeerAccessAlreadyEnabled == int{ours::kCodePeerAlreadyEnabled});
static_assert(hipErrorContextIsDestroyed == int{ours::kCodeContextIsDestroyed});
static_assert(hipErrorNotSupported == int{ours::kCodeNotSupported});
static_assert(hipErrorStreamCaptureUnsupported == int{ours::kCodeFirstOfCapture});
static_assert(hipErrorStreamCaptureWrongThread == int{ours::kCodeLastOfCapture});

TEST(HipTypes, AreThoseOfHipsHeader) {
  SUCCEED() << "this file compiles with the header of HIP " << HIP_VERSION;
}

}  // namespace
