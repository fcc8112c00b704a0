// Kernels of whole rows: dense on both sides, or one element repeated.
//
//   CopyRows<4>(block)       // block.inner steps by 4 bytes on both sides
//   FillRows<4>(block)       // block.inner steps by 4 bytes in dst and by 0 in src

#ifndef DOVETAIL_DEVICES_CPU_COPY_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_ROWS_H_

#include <cstring>

#include "dovetail/devices/cpu/copy/block.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// kPiece <= bytes <= 2 * kPieces * kPiece: pieces from the front and, overlapping them, from the
// back.
template <int kPiece, int kPieces>
void CopyShortRows(const Block& block, int64_t bytes) {
  char* dst = block.dst;
  const char* src = block.src;
  for (int64_t j = 0; j < block.outer.count; ++j) {
    char piece[2 * kPieces][kPiece];
    for (int i = 0; i < kPieces; ++i) {
      std::memcpy(piece[2 * i], src + i * kPiece, kPiece);
      std::memcpy(piece[2 * i + 1], src + bytes - (i + 1) * kPiece, kPiece);
    }
    for (int i = 0; i < kPieces; ++i) {
      std::memcpy(dst + i * kPiece, piece[2 * i], kPiece);
      std::memcpy(dst + bytes - (i + 1) * kPiece, piece[2 * i + 1], kPiece);
    }
    dst += block.outer.dst_step;
    src += block.outer.src_step;
  }
}

inline void CopyLongRows(const Block& block, int64_t bytes) {
  char* dst = block.dst;
  const char* src = block.src;
  for (int64_t j = 0; j < block.outer.count; ++j) {
    std::memcpy(dst, src, bytes);
    dst += block.outer.dst_step;
    src += block.outer.src_step;
  }
}

template <int kUnit>
void CopyRows(const Block& block) {
  const int64_t bytes = block.inner.count * kUnit;
  if (bytes > 64) return CopyLongRows(block, bytes);
  if (bytes > 32) return CopyShortRows<16, 2>(block, bytes);
  if (bytes >= 16) return CopyShortRows<16, 1>(block, bytes);
  if (bytes >= 8) return CopyShortRows<8, 1>(block, bytes);
  if (bytes >= 4) return CopyShortRows<4, 1>(block, bytes);
  if (bytes >= 2) return CopyShortRows<2, 1>(block, bytes);
  return CopyShortRows<1, 1>(block, bytes);
}

// One row of `count` times the element at `src`. The last store overlaps the one before.
template <int kUnit>
void FillRow(char* dst, const char* src, int64_t count) {
  constexpr int kVector = 16;
  const int64_t bytes = count * kUnit;
  if (bytes < kVector) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * kUnit, src, kUnit);
    return;
  }
  if constexpr (kUnit == 1) {
    std::memset(dst, static_cast<unsigned char>(*src), bytes);
    return;
  }
  char pattern[kVector];
  for (int i = 0; i < kVector; i += kUnit) std::memcpy(pattern + i, src, kUnit);
  for (int64_t i = 0; i + kVector <= bytes; i += kVector) std::memcpy(dst + i, pattern, kVector);
  std::memcpy(dst + bytes - kVector, pattern, kVector);
}

template <int kUnit>
void FillRows(const Block& block) {
  char* dst = block.dst;
  const char* src = block.src;
  for (int64_t j = 0; j < block.outer.count; ++j) {
    FillRow<kUnit>(dst, src, block.inner.count);
    dst += block.outer.dst_step;
    src += block.outer.src_step;
  }
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_ROWS_H_
