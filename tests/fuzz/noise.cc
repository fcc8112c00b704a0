#include "dovetail/tests/fuzz/noise.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dovetail::fuzz {

void FillWithNoise(uint32_t seed, bool small, char* memory, int64_t size) {
  constexpr size_t kBytes = 65521;  // a prime: places that are a power of two apart differ
  using Block = std::array<char, 2 * kBytes>;
  static const std::array<Block, 2>* const blocks = [] {
    auto* made = new std::array<Block, 2>;
    uint32_t state = 1;
    for (size_t i = 0; i < (*made)[0].size(); ++i) {
      state = state * 1664525u + 1013904223u;
      (*made)[0][i] = static_cast<char>(state >> 24);
      (*made)[1][i] = static_cast<char>((state >> 24) % 3);
    }
    return made;
  }();
  const char* const noise = (*blocks)[small ? 1 : 0].data() + seed % kBytes;
  for (int64_t at = 0; at < size; at += kBytes) {
    std::memcpy(memory + at, noise, std::min<int64_t>(size - at, kBytes));
  }
}

}  // namespace dovetail::fuzz
