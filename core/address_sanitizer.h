// Whether the program is built with AddressSanitizer. What keeps freed memory for reuse then does
// not, so that a use after free is seen.
//
//   if constexpr (kAddressSanitizer) { … }
//
// A constant.

#ifndef DOVETAIL_CORE_ADDRESS_SANITIZER_H_
#define DOVETAIL_CORE_ADDRESS_SANITIZER_H_

#include "dovetail/core/config.h"

#if defined(__SANITIZE_ADDRESS__)  // g++
#define DOVETAIL_ADDRESS_SANITIZER true
#elif defined(__has_feature)  // clang
#define DOVETAIL_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define DOVETAIL_ADDRESS_SANITIZER false
#endif

namespace dovetail::inline DOVETAIL_ABI {

inline constexpr bool kAddressSanitizer = DOVETAIL_ADDRESS_SANITIZER;

}  // namespace dovetail::inline DOVETAIL_ABI

#undef DOVETAIL_ADDRESS_SANITIZER

#endif  // DOVETAIL_CORE_ADDRESS_SANITIZER_H_
