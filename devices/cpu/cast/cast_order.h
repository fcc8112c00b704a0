// How a cast goes over its elements, and how many it takes at a time.
//
//   const CastOrder order = ChooseCastOrder(loops, path, kFloat32, kInt16);
//   if (order.way == CastWay::kTiles) loops.ForEachTile(order.box, …);
//
// Plain data; no element is read or written here.

#ifndef DOVETAIL_DEVICES_CPU_CAST_CAST_ORDER_H_
#define DOVETAIL_DEVICES_CPU_CAST_CAST_ORDER_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/cast_loops.h"
#include "dovetail/devices/cpu/cast/path.h"
#include "dovetail/devices/cpu/cast/strided_step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class CastWay : uint8_t {
  kRows,      // rows that are dense in src and dst, one by one
  kElements,  // single elements, in place
  kTiles,     // tiles: gathered, cast, scattered
};

// The most bytes of a tile, in either type.
inline constexpr int64_t kCastTileBytes = 16 * 1024;
// The least elements of a dense row that is worth a call of its own.
inline constexpr int64_t kLongCastRow = 40;

struct CastOrder {
  CastWay way;
  StridedStep step = nullptr;  // for kElements
  int outer =
      0;         // kRows and kElements: the loop around the innermost; the innermost if it is alone
  CastDims box;  // iterations of each loop in one call

  // Iterations of each loop that stay on one thread.
  CastDims Grain() const;
};

// For a cast along `path` from type `src` to `dst`. `loops` has elements.
CastOrder ChooseCastOrder(const CastLoops& loops, const CastPath& path, DType src, DType dst);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_CAST_ORDER_H_
