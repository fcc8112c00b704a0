#include "dovetail/devices/cpu/cast/stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace dovetail::inline DOVETAIL_ABI {

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
