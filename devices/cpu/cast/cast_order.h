// In which way a cast goes over its elements, and over how many at a time.
//
//   const CastOrder order = ChooseCastOrder(loops, path, kFloat32, kInt16);
//   if (order.way == CastWay::kTiles) loops.ForEachTile(order.box, …);
//
// Plain data; nothing here touches the elements.

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
  kRows,      // dense on both sides, each cast by itself
  kElements,  // each cast where it lies
  kTiles,     // brought together, cast, and spread
};

// Of the elements of a tile, in either type.
inline constexpr int64_t kCastTileBytes = 16 * 1024;
// As many elements in a dense row are worth a call of their own.
inline constexpr int64_t kLongCastRow = 40;

struct CastOrder {
  CastWay way;
  StridedStep step = nullptr;  // of kElements
  int outer = 0;  // the second loop of kRows and kElements, which take two; or the innermost itself
  CastDims box;   // turns of each loop in a call

  // Turns of each loop that go to one thread together.
  CastDims Grain() const;
};

// Of loops with elements, which `path` takes from one type to the other.
CastOrder ChooseCastOrder(const CastLoops& loops, const CastPath& path, DType src, DType dst);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_CAST_ORDER_H_
