#include "dovetail/devices/cpu/stream_threshold.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// A larger L3 cache is shared by more cores than the program runs on. For one core it is hardly
// faster than memory.
constexpr int64_t kLargestOwn = 64 << 20;
constexpr int64_t kLeast = 2 << 20;

// Bytes of the L3 cache of the first processor; 0 if it has none. On some machines sysconf adds up
// the L3 caches of the whole package, so the kernel's file is read first.
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
    // The L3 cache is faster than memory for what fits.
    if (shared > kLargestOwn || shared / 8 * 3 < own) return StreamThresholds{own, own, own, own};
    return StreamThresholds{.near = own,
                            .gathered = std::max(shared / 6, own),
                            .rows = shared / 8 * 3,
                            .fills = shared / 4 * 3};
  }();
  return thresholds;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
