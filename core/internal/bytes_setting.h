// Numbers of bytes that the environment sets.
//
//   static const int64_t kept = BytesSetting("DOVETAIL_CPU_CACHE_BYTES", 256 << 10);
//
// "1048576", "1024K" and "1 MiB" are the same number: K, M, G and T are powers of 1024, with or
// without "iB", in whatever case.

#ifndef DOVETAIL_CORE_INTERNAL_BYTES_SETTING_H_
#define DOVETAIL_CORE_INTERNAL_BYTES_SETTING_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// What the environment variable `name` says, 2^40 at most; `unless_set` where it is not set or
// empty. Anything else is told on stderr, and `unless_set` is returned: ask once.
int64_t BytesSetting(const char* name, int64_t unless_set);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_BYTES_SETTING_H_
