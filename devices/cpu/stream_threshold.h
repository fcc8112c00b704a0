// From how many bytes on it pays to write past the cache, and src is taken to lie in memory, by the
// machine's caches.
//
//   if (nbytes >= StreamFrom().rows) { … }
//
// Looked up once a process. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
#define DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {

// All are bytes that a copy writes; `lines` is the least of them.
struct StreamThresholds {
  int64_t lines;     // where elements become whole lines of dst that the cache is slow to take
  int64_t buffered;  // where it is not, that needs a buffer, or rows of dst lie off the lines
  int64_t rows;      // where dst is as src is
  int64_t fills;     // where there is hardly a src
  int64_t memory;    // where src is taken to be farther away than the last cache
};

const StreamThresholds& StreamFrom();

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
