// Whether the program is built with AddressSanitizer. Caches of freed memory are off then, so that
// a use after free is detected.
//
//   if constexpr (kAddressSanitizer) { … }
//   GuardBytes(behind, 64);      // accesses to these bytes are reported

#ifndef DOVETAIL_CORE_INTERNAL_ADDRESS_SANITIZER_H_
#define DOVETAIL_CORE_INTERNAL_ADDRESS_SANITIZER_H_

#include <cstddef>

#include "dovetail/core/config.h"

#if defined(__SANITIZE_ADDRESS__)  // g++
#define DOVETAIL_ADDRESS_SANITIZER true
#elif defined(__has_feature)  // clang
#define DOVETAIL_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define DOVETAIL_ADDRESS_SANITIZER false
#endif

#if DOVETAIL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {

inline constexpr bool kAddressSanitizer = DOVETAIL_ADDRESS_SANITIZER;

// Makes bytes of an allocation inaccessible until it is freed. Does nothing without
// AddressSanitizer.
inline void GuardBytes([[maybe_unused]] void* begin, [[maybe_unused]] size_t nbytes) {
#if DOVETAIL_ADDRESS_SANITIZER
  __asan_poison_memory_region(begin, nbytes);
#endif
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#undef DOVETAIL_ADDRESS_SANITIZER

#endif  // DOVETAIL_CORE_INTERNAL_ADDRESS_SANITIZER_H_
