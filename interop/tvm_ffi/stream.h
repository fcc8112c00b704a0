// The stream on which functions of tvm-ffi work.
//
//   absl::StatusOr<tvm::ffi::Tensor> x = AsTvmFfi(tensor, {.stream = TvmFfiStream(device)});
//
// tvm-ffi keeps one for each thread and device; Python sets it to that of PyTorch, for example. The
// result borrows it. Without a stream of its own, tvm-ffi uses the device's default stream.

#ifndef DOVETAIL_INTEROP_TVM_FFI_STREAM_H_
#define DOVETAIL_INTEROP_TVM_FFI_STREAM_H_

#include <tvm/ffi/extra/c_env_api.h>

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"
#include "dovetail/interop/dlpack/device_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

inline Stream TvmFfiStream(Device device) {
  const DLDevice theirs = ToDLDevice(device);
  void* const handle = TVMFFIEnvGetStream(theirs.device_type, theirs.device_id);
  return Stream::Borrow(device, NativeStream{reinterpret_cast<uintptr_t>(handle)});
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_STREAM_H_
