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

// What fills no line yet of a row that is written in parts.
struct LineCarry {
  int64_t bytes = 0;
  alignas(kLine) char line[kLine];

  // Writes it, through the cache. `end` is where the row ends so far.
  void Finish(char* end) const { std::memcpy(end - bytes, line, bytes); }
};

// Writes the next part of a row in whole lines, and carries what fills none to the part after it.
// The bytes before the row's first line are written with ordinary stores.
inline void WritePart(char* dst, const char* src, int64_t bytes, bool is_first,
                      const Kernels& kernels, LineCarry* carry) {
  const int64_t left = is_first ? 0 : reinterpret_cast<uintptr_t>(dst) & (kLine - 1);
  if (left > 0) {
    const int64_t taken = std::min(kLine - left, bytes);
    std::memcpy(carry->line + left, src, taken);
    carry->bytes = left + taken;
    if (carry->bytes < kLine) return;
    kernels.stream(dst - left, carry->line, 1);
    dst += taken;
    src += taken;
    bytes -= taken;
  }
  carry->bytes = WriteLines(dst, src, bytes, kernels);
  std::memcpy(carry->line, src + bytes - carry->bytes, carry->bytes);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_STREAM_LINES_H_
