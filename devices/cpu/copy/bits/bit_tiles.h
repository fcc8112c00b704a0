// Copies of sub-byte elements through tiles: unpacked to a byte each, permuted, and packed; or,
// where rows of both sides are dense and begin with a byte, joined to bytes (bit_squares.h) and
// permuted.
//
//   const BitTiles tiles(loops, rank, 4, /*cleared=*/0);
//   if (tiles.IsWorth()) done = tiles.Copy(dst, src);
//
// The tile's one edge is the loop with the shortest step in src, its other that in dst. The kernels
// for bytes permute it.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_TILES_H_
#define DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_TILES_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/loop_nest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class BitTiles {
 public:
  using Loop = internal_loop_nest::Loop;

  // `loops` outlive this; their steps are bits, and each has iterations. Elements have `bits`, and
  // in dst `cleared` more bits above them, which are set to 0.
  BitTiles(const Loop* loops, int rank, int64_t bits, int64_t cleared);

  // False for elements of a byte or more, if tiles have too few elements to be faster than single
  // ones, and if an element is written several times.
  bool IsWorth() const;

  // dst and src do not overlap. On several threads if it is large. False if it was stopped before
  // its end.
  [[nodiscard]] bool Copy(unsigned char* dst, const unsigned char* src) const;

 private:
  struct Place {
    unsigned char* dst;
    const unsigned char* src;
    int64_t dst_bit, src_bit;
  };

  int LoopToDivide() const;
  void CopyPart(const Loop* loops, Place at) const;
  void CopyRows(const Loop& row, Place at) const;
  void CopyBytes(const Loop& across_dst, const Loop& across_src, Place at) const;
  bool AreWholeBytes(const Loop& across_dst, const Loop& across_src) const;
  void CopySquares(const Loop& across_dst, const Loop& across_src, Place at,
                   unsigned char* tile) const;
  void CopyTile(const Loop& across_dst, const Loop& across_src, Place at) const;

  const Loop* loops_;
  int rank_;
  int64_t bits_;
  int64_t cleared_;
  int64_t elements_ = 1;
  int in_dst_ = 0;  // the loop with the shortest step in dst
  int in_src_ = 0;  // that in src; may be the same
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_TILES_H_
