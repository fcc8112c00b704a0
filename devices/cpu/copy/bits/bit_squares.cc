#include "dovetail/devices/cpu/copy/bits/bit_squares.h"

#include <cstring>

#include "dovetail/devices/cpu/copy/bits/byte_vector.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Row i becomes the elements i of each byte of all rows: at each distance, rows of a pair exchange
// the elements that lie across the diagonal of their square.
template <int kBits, int kDistance = kBits>
[[gnu::always_inline]] inline void Transpose(ByteVector (&rows)[8 / kBits]) {
  if constexpr (kDistance < 8) {
    constexpr unsigned char kLow = kDistance == 4 ? 0x0f : kDistance == 2 ? 0x33 : 0x55;
    constexpr int kApart = kDistance / kBits;
#pragma GCC unroll 8
    for (int i = 0; i < 8 / kBits; ++i) {
      if ((i & kApart) != 0) continue;
      const ByteVector a = rows[i], b = rows[i + kApart];
      rows[i] = (a & kLow) | ShiftedUp(b & kLow, kDistance);
      rows[i + kApart] =
          (ShiftedDown(a, kDistance) & kLow) | (b & static_cast<unsigned char>(~kLow));
    }
    Transpose<kBits, 2 * kDistance>(rows);
  }
}

// Puts the bytes of v[0], v[kStep], v[2 * kStep], ..., kCount vectors in all, into `result` in
// turn.
template <int kCount, int kStep>
[[gnu::always_inline]] inline void InTurn(const ByteVector* v, ByteVector* result) {
  if constexpr (kCount == 1) {
    result[0] = v[0];
  } else {
    ByteVector even[kCount / 2], odd[kCount / 2];
    InTurn<kCount / 2, 2 * kStep>(v, even);
    InTurn<kCount / 2, 2 * kStep>(v + kStep, odd);
#pragma GCC unroll 8
    for (int i = 0; i < kCount / 2; ++i) {
      result[2 * i] = FirstInTurn(even[i], odd[i]);
      result[2 * i + 1] = LastInTurn(even[i], odd[i]);
    }
  }
}

template <int kBits>
void Join(const unsigned char* src, int64_t src_step, int64_t row_bytes, unsigned char* dst) {
  constexpr int kRows = 8 / kBits;
  ByteVector rows[kRows], joined[kRows];
  const int64_t whole = row_bytes - row_bytes % kVectorBytes;
  for (int64_t at = 0; at < whole; at += kVectorBytes) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) rows[i] = LoadVector(src + i * src_step + at);
    Transpose<kBits>(rows);
    InTurn<kRows, 1>(rows, joined);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) StoreVector(dst + kRows * at + i * kVectorBytes, joined[i]);
  }
  if (whole == row_bytes) return;
  for (int i = 0; i < kRows; ++i) {
    rows[i] = ByteVector{};
    std::memcpy(&rows[i], src + i * src_step + whole, row_bytes - whole);
  }
  Transpose<kBits>(rows);
  InTurn<kRows, 1>(rows, joined);
  std::memcpy(dst + kRows * whole, joined, kRows * (row_bytes - whole));
}

}  // namespace

void JoinRows(const unsigned char* src, int64_t src_step, int64_t row_bytes, int bits,
              unsigned char* dst) {
  if (bits == 4) return Join<4>(src, src_step, row_bytes, dst);
  if (bits == 2) return Join<2>(src, src_step, row_bytes, dst);
  return Join<1>(src, src_step, row_bytes, dst);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
