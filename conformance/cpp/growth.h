// How much memory the process ever had: leaks are seen by its growth.

#ifndef DLPACK_CONFORMANCE_GROWTH_H_
#define DLPACK_CONFORMANCE_GROWTH_H_

#include <sys/resource.h>

#include <cstdint>

namespace dlpack_conformance {

inline int64_t KiBOfThisProcess() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss >> 10;
#else
  return usage.ru_maxrss;
#endif
}

// MiB of freed memory that AddressSanitizer keeps.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int kMiBKept = 256;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr int kMiBKept = 256;
#else
inline constexpr int kMiBKept = 0;
#endif
#else
inline constexpr int kMiBKept = 0;
#endif

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_GROWTH_H_
