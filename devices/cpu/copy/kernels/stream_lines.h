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

inline void WriteRow(char* dst, const char* src, int64_t bytes, const Kernels& kernels) {
  const int64_t before = std::min<int64_t>(-reinterpret_cast<uintptr_t>(dst) & (kLine - 1), bytes);
  const int64_t lines = (bytes - before) / kLine, end = before + lines * kLine;
  std::memcpy(dst, src, before);
  kernels.stream(dst + before, src + before, lines);
  std::memcpy(dst + end, src + end, bytes - end);
}

// The last line of a run that is written in parts; what fills no line yet is at its end.
struct LineCarry {
  alignas(kLine) char line[kLine];
};

// Writes the next part of a run in whole lines, and carries what fills none to the part after it.
// The bytes before the run's first line, and those after its last, are written with ordinary
// stores. Overwrites the kLine bytes before src. The first part has at least kLine bytes, unless it
// is the last one, too. Calls before_piece() before each piece of kPiece bytes.
template <int64_t kPiece, class F>
void WritePart(char* dst, char* src, int64_t bytes, bool is_first, bool is_last,
               const Kernels& kernels, LineCarry* carry, F before_piece) {
  const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst) % kLine);
  int64_t at = -past_line;
  if (is_first) {
    at = std::min((kLine - past_line) % kLine, bytes);
    std::memcpy(dst, src, at);
  } else {
    std::memcpy(src - kLine, carry->line, kLine);
  }
  const int64_t end = bytes - (bytes - at) % kLine;
  for (; at < end; at += kPiece) {
    before_piece();
    kernels.stream(dst + at, src + at, std::min(kPiece, end - at) / kLine);
  }
  if (is_last) {
    std::memcpy(dst + end, src + end, bytes - end);
  } else {
    std::memcpy(carry->line, src + bytes - kLine, kLine);
  }
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_STREAM_LINES_H_
