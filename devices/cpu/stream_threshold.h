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

// Each threshold but the first is the least number of bytes a copy must write to use streaming
// stores.
struct StreamThresholds {
  int64_t near;      // not for stores: less stays in the L2 cache
  int64_t gathered;  // transposes, and others that bring elements together
  int64_t rows;      // rows of dst that are rows of src
  int64_t fills;     // fills, which hardly read
};

const StreamThresholds& StreamFrom();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
