// Casts that transpose two dimensions, tile by tile through shared memory, as TileCopy copies.
// Elements are cast on their way into the tile, and leave it in words of four bytes.
//
//   TileCast<OfPair<float32, bfloat16>>::Run<0>(arguments, block, thread, tile);      // load
//   TileCast<OfPair<float32, bfloat16>>::Run<1>(arguments, block, thread, tile);      // store
//
// A word is kRun elements along the destination. Columns of words are XOR-swizzled by row, so that
// 32 adjacent threads access 32 different banks when they write columns and when they read rows.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_CAST_TILE_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_CAST_TILE_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/cast.h"
#include "dovetail/devices/gpu/kernels/host_device.h"
#include "dovetail/devices/gpu/kernels/tile.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// `Caster` has elements of at most four bytes and needs no shared memory.
template <typename Caster>
struct TileCast {
  using Arguments = CastArguments;
  using In = typename Caster::In;
  using Out = typename Caster::Out;
  static constexpr int kPhases = 2;
  static constexpr int kWordBytes = 4;
  static constexpr int kRun = kWordBytes / sizeof(Out);
  static constexpr int kAlongDst = kRun == 4 ? 128 : 64;
  static constexpr int kAlongSrc = 64;

  // kAlongSrc rows of kColumns words.
  static constexpr int kColumns = kAlongDst / kRun;
  static constexpr int kLoadWidth = kAlongSrc;  // adjacent threads that load a column
  static constexpr int kLoads = kAlongDst * kAlongSrc / kBlockThreads;
  static constexpr int kStores = kColumns * kAlongSrc / kBlockThreads;
  static constexpr int kSharedBytes = kAlongSrc * kColumns * kWordBytes;
  static_assert(kColumns % 32 == 0 && kBlockThreads % kColumns == 0);

  // The offset of a word in the tile, in bytes.
  DOVETAIL_HOST_DEVICE static uint32_t Slot(uint32_t row, uint32_t column) {
    return (row * kColumns + (column ^ row % 32)) * kWordBytes;
  }

  template <int kPhase>
  DOVETAIL_HOST_DEVICE static void Run(const CastArguments& a, uint32_t block, uint32_t thread,
                                       unsigned char* tile) {
    const TilePlace place = TilePlace::Of(a.copy, block, kAlongDst, kAlongSrc);
    if constexpr (kPhase == 0) {
      Load(a, place, thread, tile);
    } else {
      Store(a, place, thread, tile);
    }
  }

  DOVETAIL_HOST_DEVICE static void Load(const CastArguments& a, const TilePlace& place,
                                        uint32_t thread, unsigned char* tile) {
    constexpr uint32_t kStep = kBlockThreads / kLoadWidth;  // elements per iteration
    const uint32_t row = thread % kLoadWidth;
    const uint32_t first = thread / kLoadWidth;
    const uint32_t s = place.src_begin + row;
    if (s >= a.copy.along_src.count) return;
    const unsigned char* src = a.copy.src + place.offset[1] + a.copy.along_src.src_step * s;
    In in[kLoads];
    DOVETAIL_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const uint32_t d = place.dst_begin + first + i * kStep;
      if (d < a.copy.along_dst.count) in[i] = LoadUnit<In>(src + a.copy.along_dst.src_step * d);
    }
    DOVETAIL_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const uint32_t element = first + i * kStep;
      if (place.dst_begin + element < a.copy.along_dst.count) {
        StoreUnit<Out>(tile + Slot(row, element / kRun) + element % kRun * sizeof(Out),
                       Caster::Cast(a, in[i], nullptr));
      }
    }
  }

  DOVETAIL_HOST_DEVICE static void Store(const CastArguments& a, const TilePlace& place,
                                         uint32_t thread, const unsigned char* tile) {
    constexpr uint32_t kStep = kBlockThreads / kColumns;  // rows per iteration
    const uint32_t column = thread % kColumns;
    const uint32_t row = thread / kColumns;
    const uint32_t d = place.dst_begin + column * kRun;
    if (d >= a.copy.along_dst.count) return;
    unsigned char* dst = a.copy.dst + place.offset[0] + a.copy.along_dst.dst_step * d;
    DOVETAIL_UNROLL
    for (int i = 0; i < kStores; ++i) {
      const uint32_t s = place.src_begin + row + i * kStep;
      if (s >= a.copy.along_src.count) return;
      const unsigned char* from = tile + Slot(row + i * kStep, column);
      unsigned char* to = dst + a.copy.along_src.dst_step * s;
      if (a.stores_words) {
        StoreUnit<uint32_t>(to, LoadUnit<uint32_t>(from));
        continue;
      }
      DOVETAIL_UNROLL
      for (int j = 0; j < kRun; ++j) {
        if (d + j < a.copy.along_dst.count) {
          StoreUnit<Out>(to + a.copy.along_dst.dst_step * j, LoadUnit<Out>(from + j * sizeof(Out)));
        }
      }
    }
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_CAST_TILE_H_
