// From how many bytes on it pays to write past the cache, by the machine's caches.
//
//   if (nbytes >= StreamThreshold()) { … }
//
// Looked up once a process. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
#define DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {

int64_t StreamThreshold();

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_STREAM_THRESHOLD_H_
