#include "dovetail/devices/cpu/stream_threshold.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// One larger than this is shared by more cores than a program sees, and hardly faster than memory
// for one of them.
constexpr int64_t kLargestOwn = 64 << 20;
constexpr int64_t kLeast = 2 << 20;

// Bytes of the third cache that the first processor sees; 0 where there is none. What sysconf says
// counts the caches of all processors of a package together, on some.
int64_t SharedCache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  int64_t kilobytes = 0;
  std::string unit;
  if (file >> kilobytes >> unit && unit == "K") return kilobytes << 10;
  return std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
}

}  // namespace

const StreamThresholds& StreamFrom() {
  static const StreamThresholds thresholds = [] {
    const int64_t own = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), kLeast);
    const int64_t shared = SharedCache();
    // A cache that both sides fit into is faster than memory, unless whole lines would be written
    // to it in parts.
    if (shared > kLargestOwn || shared / 8 * 3 < own)
      return StreamThresholds{own, own, own, own, own};
    return StreamThresholds{.lines = own,
                            .buffered = std::max(shared / 6, own),
                            .rows = shared / 8 * 3,
                            .fills = shared / 4 * 3,
                            .memory = shared / 4 * 3};
  }();
  return thresholds;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
