// Casts one view to another. Elements are whole bytes.
//
//   const Caster caster(path, dst, src);      // borrows its arguments
//   if (!caster.Run()) …                      // stopped before its end
//
// Large casts run on several threads. Stack use is bounded; nothing is allocated.

#ifndef DOVETAIL_DEVICES_CPU_CAST_CASTER_H_
#define DOVETAIL_DEVICES_CPU_CAST_CASTER_H_

#include <cstdint>

#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/cpu/cast/cast_loops.h"
#include "dovetail/devices/cpu/cast/cast_order.h"
#include "dovetail/devices/cpu/cast/path.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class Caster {
 public:
  // The views have the same shape, with elements.
  Caster(const CastPath& path, const TensorView& dst, const TensorView& src);

  // False if it was stopped before its end.
  [[nodiscard]] bool Run() const;

 private:
  void RunPart(const CastLoops& loops) const;
  void RunRows(const CastLoops& loops) const;
  void RunElements(const CastLoops& loops) const;
  void RunTiles(const CastLoops& loops) const;
  void RunTile(int64_t dst, int64_t src, absl::Span<const int64_t> extents) const;
  void CastRows(const char* from, int64_t dst, absl::Span<const int64_t> extents) const;

  char* DstAt(int64_t offset) const {
    return static_cast<char*>(dst_.data) + offset * dst_.dtype.itemsize();
  }
  char* SrcAt(int64_t offset) const {
    return static_cast<char*>(src_.data) + offset * src_.dtype.itemsize();
  }

  const CastPath& path_;
  const TensorView& dst_;
  const TensorView& src_;
  const CastLoops loops_;
  const CastOrder order_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_CASTER_H_
