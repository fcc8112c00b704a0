// Writes rows with streaming stores, in whole lines of 64 bytes.
//
//   const Kernels& kernels = *KernelsOf(BestSimdLevel());
//   WriteRow(dst, src, bytes, kernels);  …  kernels.stream_done();
//
// The ends of a row, which fill no line, are written with ordinary stores. Call
// kernels.stream_done() before other threads read the result. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_STREAM_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_STREAM_LINES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

inline constexpr int64_t kLine = 64;

// Copies `bytes` bytes up to the end of the last whole line of dst: streams whole lines, and writes
// the bytes before the first line with ordinary stores. Returns the number of bytes after the last
// line, which are not written.
inline int64_t WriteLines(char* dst, const char* src, int64_t bytes, const Kernels& kernels) {
  const int64_t before = std::min<int64_t>(-reinterpret_cast<uintptr_t>(dst) & (kLine - 1), bytes);
  std::memcpy(dst, src, before);
  const int64_t lines = (bytes - before) / kLine;
  kernels.stream(dst + before, src + before, lines);
  return bytes - before - lines * kLine;
}

inline void WriteRow(char* dst, const char* src, int64_t bytes, const Kernels& kernels) {
  const int64_t rest = WriteLines(dst, src, bytes, kernels);
  std::memcpy(dst + bytes - rest, src + bytes - rest, rest);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_STREAM_LINES_H_
