// Writes what is larger than the cache past it.
//
//   if (nbytes >= StreamThreshold()) { StreamBytes(dst, block, n); …; StreamDone(); }
//
// A processor that writes a part of a line reads the line first; stores that go past the cache
// write whole lines and read none. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_CAST_STREAM_H_
#define DOVETAIL_DEVICES_CPU_CAST_STREAM_H_

#include <cstddef>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {

// Copies as memcpy does, the whole lines of dst past the cache where there is a way to.
void StreamBytes(char* dst, const char* src, size_t nbytes);
// Before other threads may read what StreamBytes wrote.
void StreamDone();

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_CAST_STREAM_H_
