// The sizes from which streaming (non-temporal) stores copy faster than stores through the cache.
//
//   if (nbytes >= StreamFrom().rows) { … }
//
// They depend on the sizes of this machine's caches, which are looked up once per process. Any
// thread.

#ifndef DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
#define DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Each threshold is the least number of bytes a copy must write to use streaming stores. `lines` is
// the lowest threshold.
struct StreamThresholds {
  int64_t lines;     // full-line kernels, which gain nothing from the L3
  int64_t buffered;  // other kernels, kernels that need a buffer, and misaligned rows
  int64_t rows;      // rows of dst that are rows of src
  int64_t fills;     // fills, which hardly read
  int64_t memory;    // not for stores: from here on src is assumed to be in memory, not in the L3
};

const StreamThresholds& StreamFrom();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
