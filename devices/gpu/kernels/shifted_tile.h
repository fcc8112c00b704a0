// TileCopy (tile.h) for elements of one and two bytes whose rows are not aligned to words: a matrix
// with an odd number of columns, say. Reads and writes are words of four bytes nevertheless.
//
//   ShiftedTileCopy<1>::Run<0>(arguments, block, thread, tile);      // load
//   ShiftedTileCopy<1>::Run<1>(arguments, block, thread, tile);      // after a barrier: store
//
// A word of a source row that begins between two aligned words is put together from both. In the
// destination each row has words of its own: they begin where its addresses are aligned, up to one
// word before the tile. A tile therefore holds one more column of words on its left. Bytes beside
// a row are never accessed; at its ends elements move singly.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_SHIFTED_TILE_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_SHIFTED_TILE_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/host_device.h"
#include "dovetail/devices/gpu/kernels/tile.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

template <int kBytes>
struct ShiftedTileCopy {
  using Arguments = CopyArguments;
  using Unit = typename UnitOf<kBytes>::Type;
  static constexpr int kPhases = 2;
  static constexpr int kWordBytes = 4;
  static constexpr int kRun = kWordBytes / kBytes;  // elements of a word
  static constexpr int kAlongDst = TileCopy<kBytes, kRun>::kAlongDst;
  static constexpr int kAlongSrc = TileCopy<kBytes, kRun>::kAlongSrc;
  static constexpr int kColumns = kAlongDst / kRun;
  static constexpr int kPitch = kColumns + 1;  // words of a row of the tile
  static constexpr int kSharedBytes = kAlongSrc * kPitch * kWordBytes;

  static constexpr int kLoadWidth = kAlongSrc / kRun;
  static constexpr int kLoadStep = kBlockThreads / kLoadWidth;  // columns per iteration
  static constexpr int kLoads = (kPitch + kLoadStep - 1) / kLoadStep;
  static constexpr int kStoreStep = kBlockThreads / kColumns;  // rows per iteration
  static constexpr int kStores = kAlongSrc / kStoreStep;
  static_assert(kLoadStep * kLoadWidth == kBlockThreads && kStoreStep * kColumns == kBlockThreads);

  // The offset of a word in the tile, in bytes. Rows that adjacent threads write are adjacent, and
  // the pitch is odd: 32 adjacent threads access 32 different banks.
  DOVETAIL_HOST_DEVICE static uint32_t Slot(uint32_t row, uint32_t column) {
    return ((row % kRun * (kAlongSrc / kRun) + row / kRun) * kPitch + column) * kWordBytes;
  }

  template <int kPhase>
  DOVETAIL_HOST_DEVICE static void Run(const CopyArguments& a, uint32_t block, uint32_t thread,
                                       unsigned char* tile) {
    if constexpr (kPhase == 0) {
      Load(a, block, thread, tile);
    } else {
      Store(a, block, thread, tile);
    }
  }

  // The elements [s, s + kRun) of a source row, as far as it has them.
  DOVETAIL_HOST_DEVICE static uint32_t LoadRow(const unsigned char* row, uint32_t s,
                                               uint32_t count) {
    const unsigned char* const from = row + s * kBytes;
    const uint32_t shift = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) % kWordBytes);
    const unsigned char* const aligned = from - shift;
    const unsigned char* const end = row + static_cast<int64_t>(count) * kBytes;
    if (shift == 0 && s + kRun <= count) return LoadUnit<uint32_t>(from);
    if (aligned >= row && aligned + 2 * kWordBytes <= end) {
      return PickBytes(LoadUnit<uint32_t>(aligned), LoadUnit<uint32_t>(aligned + kWordBytes),
                       0x3210 + 0x1111 * shift);
    }
    uint32_t word = 0;
    DOVETAIL_UNROLL
    for (int i = 0; i < kRun; ++i) {
      if (s + i < count) {
        word |= static_cast<uint32_t>(LoadUnit<Unit>(from + i * kBytes)) << (8 * kBytes * i);
      }
    }
    return word;
  }

  DOVETAIL_HOST_DEVICE static void Load(const CopyArguments& a, uint32_t block, uint32_t thread,
                                        unsigned char* tile) {
    const TilePlace place = TilePlace::Of(a, block, kAlongDst, kAlongSrc);
    const uint32_t row = thread % kLoadWidth * kRun;
    const uint32_t s = place.src_begin + row;
    if (s >= a.along_src.count) return;
    const unsigned char* src = a.src + place.offset[1];
    uint32_t word[kLoads][kRun];
    DOVETAIL_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const uint32_t column = thread / kLoadWidth + i * kLoadStep;
      DOVETAIL_UNROLL
      for (int j = 0; j < kRun; ++j) {
        // Wraps to a large number before the first element.
        const uint32_t d = place.dst_begin + column * kRun + j - kRun;
        word[i][j] = column < kPitch && d < a.along_dst.count
                         ? LoadRow(src + a.along_dst.src_step * d, s, a.along_src.count)
                         : 0;
      }
    }
    DOVETAIL_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const uint32_t column = thread / kLoadWidth + i * kLoadStep;
      if (column < kPitch) {
        TransposeWords<kRun>(word[i]);
        DOVETAIL_UNROLL
        for (int j = 0; j < kRun; ++j) {
          StoreUnit<uint32_t>(tile + Slot(row + j, column), word[i][j]);
        }
      }
    }
  }

  DOVETAIL_HOST_DEVICE static void Store(const CopyArguments& a, uint32_t block, uint32_t thread,
                                         const unsigned char* tile) {
    const TilePlace place = TilePlace::Of(a, block, kAlongDst, kAlongSrc);
    const uint32_t column = thread % kColumns;
    unsigned char* dst = a.dst + place.offset[0];
    DOVETAIL_UNROLL
    for (int i = 0; i < kStores; ++i) {
      const uint32_t row = thread / kColumns + i * kStoreStep;
      const uint32_t s = place.src_begin + row;
      if (s >= a.along_src.count) continue;
      unsigned char* const to = dst + a.along_src.dst_step * s +
                                static_cast<int64_t>(place.dst_begin + column * kRun) * kBytes;
      const uint32_t shift = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) % kWordBytes);
      const uint32_t word =
          PickBytes(LoadUnit<uint32_t>(tile + Slot(row, column)),
                    LoadUnit<uint32_t>(tile + Slot(row, column + 1)), 0x7654 - 0x1111 * shift);
      StoreRow(to - shift, place.dst_begin + column * kRun - shift / kBytes, a.along_dst.count,
               word);
    }
  }

  // Stores the elements of a word that belong to the row. `d` is the first one, and wraps to a
  // large number if it is before the row.
  DOVETAIL_HOST_DEVICE static void StoreRow(unsigned char* to, uint32_t d, uint32_t count,
                                            uint32_t word) {
    if (d < count && count - d >= kRun) return StoreUnit<uint32_t>(to, word);
    DOVETAIL_UNROLL
    for (int i = 0; i < kRun; ++i) {
      if (d + i < count) {
        StoreUnit<Unit>(to + i * kBytes, static_cast<Unit>(word >> (8 * kBytes * i)));
      }
    }
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_SHIFTED_TILE_H_
