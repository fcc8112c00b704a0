// The types and constants of dpctl's C interface to SYCL that Dovetail uses, so that it builds
// without the headers of either. The values are those of dpctl_sycl_enum_types.h. Internal to
// devices/oneapi.

#ifndef DOVETAIL_DEVICES_ONEAPI_SYCL_TYPES_H_
#define DOVETAIL_DEVICES_ONEAPI_SYCL_TYPES_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Addresses of these are the addresses of sycl::device, sycl::context, sycl::queue, sycl::event, …
struct SyclDevice;
struct SyclDeviceVector;
struct SyclContext;
struct SyclQueue;
struct SyclEventHandle;
struct SyclKernel;
struct SyclKernelBundle;
struct SyclRawKernelArg;

// DPCTLSyclBackendType
inline constexpr int kSyclAllBackends = 0x1f << 16;
inline constexpr int kSyclCuda = 1 << 16;
inline constexpr int kSyclLevelZero = 1 << 17;
inline constexpr int kSyclOpenCl = 1 << 18;
inline constexpr int kSyclHip = 1 << 19;

// DPCTLSyclDeviceType
inline constexpr int kSyclAllDevices = 0x3f;
inline constexpr int kSyclAccelerator = 1 << 0;
inline constexpr int kSyclCpu = 1 << 2;
inline constexpr int kSyclGpu = 1 << 4;

// DPCTLSyclAspectType
inline constexpr int kSyclHasUsmHost = 13;
inline constexpr int kSyclHasUsmShared = 14;

// DPCTLSyclUSMType
inline constexpr int kSyclUsmUnknown = 0;
inline constexpr int kSyclUsmDevice = 1;
inline constexpr int kSyclUsmShared = 2;
inline constexpr int kSyclUsmHost = 3;

// DPCTLKernelArgType
inline constexpr int kSyclVoidPointer = 10;
inline constexpr int kSyclRawKernelArg = 13;

inline constexpr int kSyclInOrder = 1 << 1;  // DPCTLQueuePropertyType

// DPCTLSyclEventStatusType
inline constexpr int kSyclUnknown = 0;
inline constexpr int kSyclComplete = 3;

// The table of functions, filled from the library.
struct SyclSymbols {
#define DOVETAIL_SYCL_SYMBOL(name, need, result, parameters) result(*name) parameters = nullptr;
#include "dovetail/devices/oneapi/symbols.inc"
#undef DOVETAIL_SYCL_SYMBOL
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_SYCL_TYPES_H_
