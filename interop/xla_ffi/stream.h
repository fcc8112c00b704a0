// The stream on which XLA runs a handler, as a Stream.
//
//   ffi::Error Handler(cudaStream_t xla_stream, int32_t ordinal, ffi::AnyBuffer in, …) {
//     const Stream stream = XlaStream(xla_stream, Device::Cuda(ordinal));
//     const StreamScope scope(stream);       // Dovetail's copies and kernels run on it
//     absl::StatusOr<Tensor> x = AsTensor(in, stream.device());
//
//   // The binding: Ctx<ffi::PlatformStream<cudaStream_t>>().Ctx<ffi::DeviceOrdinal>().Arg<…>()…
//
// The stream's type is the user's; no header of CUDA or ROCm is included. XLA owns the stream, and
// the result borrows it for the call.

#ifndef DOVETAIL_INTEROP_XLA_FFI_STREAM_H_
#define DOVETAIL_INTEROP_XLA_FFI_STREAM_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename T>
Stream XlaStream(T* platform_stream, Device device) {
  return Stream::Borrow(device, NativeStream{reinterpret_cast<uintptr_t>(platform_stream)});
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_XLA_FFI_STREAM_H_
