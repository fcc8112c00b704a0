// Kernels for rows that are dense on both sides, and for short rows in general.
//
//   CopyRows<4>(block)       // block.inner steps by 4 bytes on both sides

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_ROWS_H_

#include <cstring>

#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/elements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Copies a row of kPiece <= bytes <= 2 * kPieces * kPiece: pieces from the front, and pieces from
// the back that overlap them.
template <int kPiece, int kPieces>
[[gnu::always_inline]] inline void CopyShortRow(char* dst, const char* src, int64_t bytes) {
  char piece[2 * kPieces][kPiece];
  for (int i = 0; i < kPieces; ++i) {
    std::memcpy(piece[2 * i], src + i * kPiece, kPiece);
    std::memcpy(piece[2 * i + 1], src + bytes - (i + 1) * kPiece, kPiece);
  }
  for (int i = 0; i < kPieces; ++i) {
    std::memcpy(dst + i * kPiece, piece[2 * i], kPiece);
    std::memcpy(dst + bytes - (i + 1) * kPiece, piece[2 * i + 1], kPiece);
  }
}

template <int kPiece, int kPieces>
void CopyShortRows(const Block& block, int64_t bytes) {
  char* dst = block.dst;
  const char* src = block.src;
  for (int64_t j = 0; j < block.outer.count; ++j) {
    CopyShortRow<kPiece, kPieces>(dst, src, bytes);
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

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_ROWS_H_
