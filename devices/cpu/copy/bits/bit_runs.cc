#include "dovetail/devices/cpu/copy/bits/bit_runs.h"

#include <cstring>

#include "dovetail/devices/cpu/copy/bits/byte_vector.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// `width` ones at the start of each `lane` of 64 bits.
constexpr uint64_t Ones(int width, int lane) {
  uint64_t ones = 0;
  for (int at = 0; at < 64; at += lane) ones |= ((uint64_t{1} << width) - 1) << at;
  return ones;
}

// Eight elements in the low bits, to a byte each: halves move apart, then quarters, then eighths.
template <int kBits>
uint64_t Spread(uint64_t x) {
  x = (x & Ones(4 * kBits, 64)) | ((x >> (4 * kBits)) & Ones(4 * kBits, 64)) << 32;
  x = (x & Ones(2 * kBits, 32)) | ((x >> (2 * kBits)) & Ones(2 * kBits, 32)) << 16;
  return (x & Ones(kBits, 16)) | ((x >> kBits) & Ones(kBits, 16)) << 8;
}

// The other way.
template <int kBits>
uint64_t Gather(uint64_t x) {
  x = (x & Ones(kBits, 16)) | (x & Ones(kBits, 16) << 8) >> (8 - kBits);
  x = (x & Ones(2 * kBits, 32)) | (x & Ones(2 * kBits, 32) << 16) >> (16 - 2 * kBits);
  return (x & Ones(4 * kBits, 64)) | (x & Ones(4 * kBits, 64) << 32) >> (32 - 4 * kBits);
}

uint64_t Load(const unsigned char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
void Store(unsigned char* p, uint64_t word) { std::memcpy(p, &word, sizeof word); }

unsigned char LoadOne(const unsigned char* base, int64_t bit, int bits) {
  const unsigned char* const p = base + (bit >> 3);
  const int shift = static_cast<int>(bit & 7);
  unsigned value = *p >> shift;
  if (shift + bits > 8) value |= unsigned{p[1]} << (8 - shift);
  return static_cast<unsigned char>(value & ((1u << bits) - 1));
}

void StoreOne(unsigned char* base, int64_t bit, int bits, unsigned char value) {
  unsigned char* const p = base + (bit >> 3);
  const int shift = static_cast<int>(bit & 7);
  const unsigned mask = ((1u << bits) - 1) << shift;
  const unsigned shifted = unsigned{value} << shift;
  *p = static_cast<unsigned char>((*p & ~mask) | shifted);
  if (shift + bits > 8) {
    p[1] = static_cast<unsigned char>((p[1] & ~(mask >> 8)) | shifted >> 8);
  }
}

// 16 bytes with two, four or eight elements of kBits each, of which `kHeld` bits are in use, to
// bytes: the halves of each byte become bytes that follow each other, until each has an element.
template <int kBits, int kHeld = 8>
void UnpackVector(ByteVector packed, unsigned char* bytes) {
  if constexpr (kHeld == kBits) {
    StoreVector(bytes, packed);
  } else {
    constexpr int kHalf = kHeld / 2;
    constexpr unsigned char kMask = (1 << kHalf) - 1;
    const ByteVector low = packed & kMask, high = packed >> kHalf & kMask;
    UnpackVector<kBits, kHalf>(FirstInTurn(low, high), bytes);
    UnpackVector<kBits, kHalf>(LastInTurn(low, high), bytes + 16 * kHalf / kBits);
  }
}

// The other way, from bytes to the 16 bytes that they fill.
template <int kBits, int kHeld = 8>
ByteVector PackVector(const unsigned char* bytes) {
  if constexpr (kHeld == kBits) {
    return LoadVector(bytes);
  } else {
    constexpr int kHalf = kHeld / 2;
    const ByteVector first = PackVector<kBits, kHalf>(bytes);
    const ByteVector last = PackVector<kBits, kHalf>(bytes + 16 * kHalf / kBits);
    return EverySecond(first, last) | EverySecondFromOne(first, last) << kHalf;
  }
}

template <int kBits>
void UnpackDense(const unsigned char* base, int64_t bit, int64_t count, unsigned char* bytes) {
  const unsigned char* p = base + (bit >> 3);
  const int shift = static_cast<int>(bit & 7);
  int64_t left = (shift + count * kBits + 7) / 8;  // bytes of the run
  int64_t i = 0;
  if constexpr (8 % kBits == 0) {
    constexpr int64_t kAtOnce = 16 * 8 / kBits;
    for (; shift == 0 && count - i >= kAtOnce; i += kAtOnce, p += 16, left -= 16) {
      UnpackVector<kBits>(LoadVector(p), bytes + i);
    }
  }
  for (; count - i >= 8 && left >= 8; i += 8, p += kBits, left -= kBits) {
    Store(bytes + i, Spread<kBits>(Load(p) >> shift));
  }
  for (; i < count; ++i) bytes[i] = LoadOne(base, bit + i * kBits, kBits);
}

template <int kBits>
void PackDense(const unsigned char* bytes, int64_t count, unsigned char* base, int64_t bit) {
  unsigned char* p = base + (bit >> 3);
  const int shift = static_cast<int>(bit & 7);
  int64_t left = (shift + count * kBits + 7) / 8;
  int64_t i = 0;
  if constexpr (8 % kBits == 0) {
    constexpr int64_t kAtOnce = 16 * 8 / kBits;
    for (; shift == 0 && count - i >= kAtOnce; i += kAtOnce, p += 16, left -= 16) {
      StoreVector(p, PackVector<kBits>(bytes + i));
    }
  }
  // A word may reach beyond its eight elements, into those that are written next. The bits before
  // them are those that are there.
  const uint64_t before = (uint64_t{1} << shift) - 1;
  for (; count - i >= 8 && left > 8; i += 8, p += kBits, left -= kBits) {
    Store(p, (*p & before) | Gather<kBits>(Load(bytes + i)) << shift);
  }
  for (; i < count; ++i) StoreOne(base, bit + i * kBits, kBits, bytes[i]);
}

// Calls body<kBits>() for `bits`.
template <typename Body>
void ForBits(int bits, Body body) {
  switch (bits) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    case 5:
      return body.template operator()<5>();
    case 6:
      return body.template operator()<6>();
    default:
      return body.template operator()<7>();
  }
}

}  // namespace

void UnpackRun(const BitRun<const unsigned char>& src, int64_t count, unsigned char* bytes) {
  if (src.step == src.bits) {
    return ForBits(src.bits,
                   [&]<int kBits> { UnpackDense<kBits>(src.base, src.bit, count, bytes); });
  }
  for (int64_t i = 0; i < count; ++i) {
    bytes[i] = LoadOne(src.base, src.bit + i * src.step, src.bits);
  }
}

void PackRun(const unsigned char* bytes, int64_t count, const BitRun<unsigned char>& dst,
             int64_t cleared) {
  if (dst.step == dst.bits) {
    return ForBits(dst.bits, [&]<int kBits> { PackDense<kBits>(bytes, count, dst.base, dst.bit); });
  }
  const int bits = dst.bits + static_cast<int>(cleared);
  for (int64_t i = 0; i < count; ++i) {
    StoreOne(dst.base, dst.bit + i * dst.step, bits, bytes[i]);
  }
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
