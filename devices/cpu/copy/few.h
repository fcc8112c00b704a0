// Copies a few elements by plain loops, without a plan: planning would take longer than copying.
//
//   CopyFew<4>(dst, src, shape, dst_strides, src_strides, rank)      // elements of 4 bytes
//
// Strides count elements.

#ifndef DOVETAIL_DEVICES_CPU_COPY_FEW_H_
#define DOVETAIL_DEVICES_CPU_COPY_FEW_H_

#include <cstdint>
#include <cstring>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// The most elements that are copied so: in any rank, and in up to two dimensions (no recursion).
inline constexpr int64_t kFew = 64, kFewInRows = 128;

// Aligned to a cache line: its inner loop is up to 5 % slower where the linker happens to place it
// across two (measured on a Xeon).
template <int kSize>
[[gnu::aligned(64)]] void CopyFew(char* dst, const char* src, const int64_t* shape,
                                  const int64_t* dst_strides, const int64_t* src_strides,
                                  int rank) {
  if (rank > 2) {
    for (int64_t i = 0; i < shape[0]; ++i) {
      CopyFew<kSize>(dst + i * dst_strides[0] * kSize, src + i * src_strides[0] * kSize, shape + 1,
                     dst_strides + 1, src_strides + 1, rank - 1);
    }
    return;
  }
  const int64_t n = rank > 0 ? shape[rank - 1] : 1;
  const int64_t dst_step = n > 1 ? dst_strides[rank - 1] * kSize : 0;
  const int64_t src_step = n > 1 ? src_strides[rank - 1] * kSize : 0;
  const int64_t m = rank > 1 ? shape[0] : 1;
  for (int64_t j = 0; j < m; ++j) {
    char* to = dst;
    const char* from = src;
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to, from, kSize);
      to += dst_step;
      from += src_step;
    }
    if (m == 1) return;  // the strides of one iteration mean nothing
    dst += dst_strides[0] * kSize;
    src += src_strides[0] * kSize;
  }
}

// For up to two dimensions, with the longer one inside: the end of a row costs as much as some
// elements.
template <int kSize>
void CopyFewInRows(char* dst, const char* src, const int64_t* shape, const int64_t* dst_strides,
                   const int64_t* src_strides, int rank) {
  if (rank < 2 || shape[0] <= shape[1]) {
    return CopyFew<kSize>(dst, src, shape, dst_strides, src_strides, rank);
  }
  const int64_t swapped[] = {shape[1], shape[0]};
  const int64_t dst_swapped[] = {dst_strides[1], dst_strides[0]};
  const int64_t src_swapped[] = {src_strides[1], src_strides[0]};
  CopyFew<kSize>(dst, src, swapped, dst_swapped, src_swapped, rank);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_FEW_H_
