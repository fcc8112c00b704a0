// Copies that transpose two dimensions, tile by tile through shared memory: reads run along the
// dimension in which the source is dense, writes along the one in which the destination is dense.
//
//   TileCopy<4, 1>::Run<0>(arguments, block, thread, tile);      // load
//   TileCopy<4, 1>::Run<1>(arguments, block, thread, tile);      // after a barrier: store
//
// kBytes is the size of an element. If alignment and sizes allow, elements of one and two bytes
// move in words of four bytes, kRun elements each: a thread loads a square of kRun x kRun elements,
// transposes it in registers, and writes whole words into the tile.
//
// Tiles have no padding. Columns are XOR-swizzled by row (Slot), so that 32 adjacent threads access
// 32 different banks when they write columns and when they read rows.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_TILE_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_TILE_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Transposes a square of bytes (kRun 4) or half words (kRun 2): element j of word i becomes element
// i of word j.
template <int kRun>
DOVETAIL_HOST_DEVICE void TransposeWords(uint32_t (&word)[kRun]) {
  static_assert(kRun == 2 || kRun == 4);
  if constexpr (kRun == 2) {
    const uint32_t low = PickBytes(word[0], word[1], 0x5410);
    word[1] = PickBytes(word[0], word[1], 0x7632);
    word[0] = low;
  } else {
    const uint32_t low01 = PickBytes(word[0], word[1], 0x5140);
    const uint32_t high01 = PickBytes(word[0], word[1], 0x7362);
    const uint32_t low23 = PickBytes(word[2], word[3], 0x5140);
    const uint32_t high23 = PickBytes(word[2], word[3], 0x7362);
    word[0] = PickBytes(low01, low23, 0x5410);
    word[1] = PickBytes(low01, low23, 0x7632);
    word[2] = PickBytes(high01, high23, 0x5410);
    word[3] = PickBytes(high01, high23, 0x7632);
  }
}

// The tile of a block: its corner, and the offset from the dimensions that are not tiled.
struct TilePlace {
  uint32_t dst_begin, src_begin;  // the first element along each tiled dimension
  int64_t offset[2];

  // `along_dst` and `along_src`: elements of a tile along each.
  DOVETAIL_HOST_DEVICE static TilePlace Of(const CopyArguments& a, uint32_t block,
                                           uint32_t along_dst, uint32_t along_src) {
    TilePlace place;
    const uint32_t rest = a.along_dst.tiles.Quotient(block);
    const uint32_t batch = a.along_src.tiles.Quotient(rest);
    place.dst_begin = (block - rest * a.along_dst.tiles.divisor) * along_dst;
    place.src_begin = (rest - batch * a.along_src.tiles.divisor) * along_src;
    a.space.Locate(batch, place.offset);
    return place;
  }
};

template <int kBytes, int kRun>
struct TileCopy {
  using Arguments = CopyArguments;
  static constexpr int kPhases = 2;
  static constexpr int kWordBytes = kBytes * kRun;
  using Word = typename UnitOf<kWordBytes>::Type;

  // Elements of a tile along each dimension. Rows have at least 128 bytes on both sides, so that
  // whole cache lines are read and written. A tile has 8 to 16 KiB, so that several blocks fit on a
  // multiprocessor.
  static constexpr int kAlongDst = kBytes == 1 || (kBytes == 2 && kRun == 2) ? 128
                                   : kBytes == 16                            ? 32
                                                                             : 64;
  static constexpr int kAlongSrc = kBytes == 1 && kRun == 4 ? 128 : kBytes >= 8 ? 32 : 64;
  static constexpr int kSharedBytes = kAlongDst * kAlongSrc * kBytes;

  // A tile holds kAlongSrc rows of kColumns words; a word is kRun elements along the destination.
  static constexpr int kColumns = kAlongDst / kRun;
  static constexpr int kLoadWidth = kAlongSrc / kRun;  // adjacent threads that load a column
  static constexpr int kLoads = kColumns * kLoadWidth / kBlockThreads;
  static constexpr int kStores = kAlongSrc * kColumns / kBlockThreads;
  static_assert(kBlockThreads % kLoadWidth == 0 && kBlockThreads % kColumns == 0);
  static_assert(kLoads * kBlockThreads == kColumns * kLoadWidth);
  static_assert(kStores * kBlockThreads == kAlongSrc * kColumns);

  // The offset of a word in the tile, in bytes.
  static constexpr int kSpread = kWordBytes < 4 ? 4 / kWordBytes : 1;  // words per bank
  static_assert(31 * kSpread < kColumns && (kColumns & (kColumns - 1)) == 0);
  DOVETAIL_HOST_DEVICE static uint32_t Slot(uint32_t row, uint32_t column) {
    return (row * kColumns + (column ^ (row / kRun % 32 * kSpread))) * kWordBytes;
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

  DOVETAIL_HOST_DEVICE static void Load(const CopyArguments& a, uint32_t block, uint32_t thread,
                                        unsigned char* tile) {
    constexpr uint32_t kStep = kBlockThreads / kLoadWidth;  // columns per iteration
    const TilePlace place = TilePlace::Of(a, block, kAlongDst, kAlongSrc);
    const uint32_t row = thread % kLoadWidth * kRun;
    const uint32_t column = thread / kLoadWidth;
    const uint32_t s = place.src_begin + row;
    if (s >= a.along_src.count) return;
    const unsigned char* src = a.src + place.offset[1] + a.along_src.src_step * s;
    const uint32_t begin = place.dst_begin + column * kRun;
    Word word[kLoads][kRun];
    DOVETAIL_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const uint32_t d = begin + i * kStep * kRun;
      if (d < a.along_dst.count) {
        DOVETAIL_UNROLL
        for (int j = 0; j < kRun; ++j) {
          word[i][j] = LoadUnit<Word>(src + a.along_dst.src_step * (d + j));
        }
      }
    }
    DOVETAIL_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      if (begin + i * kStep * kRun < a.along_dst.count) {
        if constexpr (kRun > 1) TransposeWords<kRun>(word[i]);
        DOVETAIL_UNROLL
        for (int j = 0; j < kRun; ++j) {
          StoreUnit<Word>(tile + Slot(row + j, column + i * kStep), word[i][j]);
        }
      }
    }
  }

  DOVETAIL_HOST_DEVICE static void Store(const CopyArguments& a, uint32_t block, uint32_t thread,
                                         const unsigned char* tile) {
    constexpr uint32_t kStep = kBlockThreads / kColumns;  // rows per iteration
    const TilePlace place = TilePlace::Of(a, block, kAlongDst, kAlongSrc);
    const uint32_t column = thread % kColumns;
    const uint32_t row = thread / kColumns;
    const uint32_t d = place.dst_begin + column * kRun;
    if (d >= a.along_dst.count) return;
    unsigned char* dst = a.dst + place.offset[0] + a.along_dst.dst_step * d;
    DOVETAIL_UNROLL
    for (int i = 0; i < kStores; ++i) {
      const uint32_t s = place.src_begin + row + i * kStep;
      if (s < a.along_src.count) {
        StoreUnit<Word>(dst + a.along_src.dst_step * s,
                        LoadUnit<Word>(tile + Slot(row + i * kStep, column)));
      }
    }
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_TILE_H_
