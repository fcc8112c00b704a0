#include "dovetail/devices/cpu/stream_threshold.h"

#include <unistd.h>

#include <algorithm>

namespace dovetail::inline DOVETAIL_ABI {

int64_t StreamThreshold() {
  static const int64_t threshold = [] {
    // A cache that both sides fit into is faster than memory. One larger than this is shared by
    // more cores than a program sees, and hardly faster than memory for one of them.
    constexpr int64_t kLargestOwn = 64 << 20;
    constexpr int64_t kUnknown = 2 << 20;
    const int64_t shared = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const int64_t own = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::max(shared <= kLargestOwn ? shared / 2 : own, kUnknown);
  }();
  return threshold;
}

}  // namespace dovetail::inline DOVETAIL_ABI
