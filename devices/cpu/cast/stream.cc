#include "dovetail/devices/cpu/cast/stream.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace dovetail::inline DOVETAIL_ABI {

size_t StreamFrom() {
  static const size_t bytes = [] {
    // A larger one is shared by more processors than this program runs on.
    constexpr long kLargestOwn = 64 << 20;
    constexpr long kUnknown = 4 << 20;
    const long shared = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const long own = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return static_cast<size_t>(std::max(shared <= kLargestOwn ? shared / 2 : own, kUnknown));
  }();
  return bytes;
}

#if defined(__x86_64__)
void StreamBytes(char* dst, const char* src, size_t nbytes) {
  constexpr size_t kLine = 64;
  const size_t head = std::min(nbytes, -reinterpret_cast<uintptr_t>(dst) % kLine);
  std::memcpy(dst, src, head);
  size_t at = head;
  for (; at + kLine <= nbytes; at += kLine) {
    for (size_t i = at; i < at + kLine; i += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(dst + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i)));
    }
  }
  std::memcpy(dst + at, src + at, nbytes - at);
}
void StreamDone() { _mm_sfence(); }
#else
void StreamBytes(char* dst, const char* src, size_t nbytes) { std::memcpy(dst, src, nbytes); }
void StreamDone() {}
#endif

}  // namespace dovetail::inline DOVETAIL_ABI
