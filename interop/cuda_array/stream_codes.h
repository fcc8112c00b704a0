// Converts between the stream codes of __cuda_array_interface__ and those of __dlpack__(stream=).
// The backends understand the latter.
//
//   ToDLPackStream(1)             // nullopt: the device's default stream
//   FromDLPackStream(nullopt)     // 1
//
// The two agree on 2 and on handles. The default stream is 1 in this interface, on ROCm too (as in
// CuPy), and 0 in DLPack for ROCm. 0 is invalid in this interface. DLPack's -1 (no synchronisation)
// corresponds to None, which this header does not handle.

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
