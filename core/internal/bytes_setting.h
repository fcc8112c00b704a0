// BytesSetting: a number of bytes from an environment variable.
//
//   static const int64_t kept = BytesSetting("DOVETAIL_CPU_CACHE_BYTES", 256 << 10);
//
// "1048576", "1024K" and "1 MiB" are the same number: K, M, G and T are powers of 1024, with or
// without "iB", in upper or lower case.

#ifndef DOVETAIL_CORE_INTERNAL_BYTES_SETTING_H_
#define DOVETAIL_CORE_INTERNAL_BYTES_SETTING_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The value of the environment variable `name`, at most 2^40. `unless_set` if the variable is unset
// or empty. Any other text writes a warning to stderr and gives `unless_set`; read each variable
// only once.
int64_t BytesSetting(const char* name, int64_t unless_set);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_BYTES_SETTING_H_
