// From how many bytes on a copy is faster by streaming (non-temporal) stores than through the
// cache.
//
//   if (nbytes >= StreamFrom().rows) { … }
//
// By the sizes of this machine's caches, which are looked up once a process. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
#define DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// All are bytes that a copy writes; `lines` is the least of them.
struct StreamThresholds {
  int64_t lines;     // kernels that fill whole cache lines, of what the last-level cache is slow at
  int64_t buffered;  // the same of other kernels, those that need a buffer, and unaligned rows
  int64_t rows;      // rows of dst that are rows of src
  int64_t fills;     // fills, which hardly read
  int64_t memory;    // src is taken to lie in memory, not in the last-level cache
};

const StreamThresholds& StreamFrom();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
