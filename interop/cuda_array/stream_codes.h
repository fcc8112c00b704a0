// The stream codes of __cuda_array_interface__ and those of __dlpack__(stream=), which the backends
// know: both directions.
//
//   ToDLPackStream(1)             // nullopt: the device's default stream
//   FromDLPackStream(nullopt)     // 1
//
// Both agree on 2 and on handles. 1 is the default stream here, on ROCm too (CuPy), where DLPack
// has 0 for it; 0 does not exist here. What is no synchronisation there (-1) is None here, and none
// of this header's.

#ifndef DOVETAIL_INTEROP_CUDA_ARRAY_STREAM_CODES_H_
#define DOVETAIL_INTEROP_CUDA_ARRAY_STREAM_CODES_H_

#include <cstdint>
#include <optional>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

inline constexpr int64_t kCudaArrayDefaultStream = 1;

constexpr std::optional<int64_t> ToDLPackStream(int64_t code) {
  if (code == kCudaArrayDefaultStream) return std::nullopt;
  return code;
}

constexpr int64_t FromDLPackStream(std::optional<int64_t> code) {
  return code.value_or(0) == 0 ? kCudaArrayDefaultStream : *code;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_CUDA_ARRAY_STREAM_CODES_H_
