// MergedCopy: a strided copy in its simplest form. Bytes, no dimension of one turn, neighbours that
// step evenly made one, the destination's order, its addresses rising.
//
//   MergedCopy copy;
//   absl::Status s = MergeCopy(dst, src, &copy);
//   copy.loops.empty()         // one contiguous run: a plain copy of run_bytes does it
//
// Borrows the memory, owns nothing else. Sizes and steps are in bytes.

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_MERGE_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_MERGE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

using internal_loop_nest::Loop;
using CopyLoops = absl::InlinedVector<Loop, 6>;

struct MergedCopy {
  unsigned char* dst = nullptr;
  const unsigned char* src = nullptr;
  int64_t run_bytes = 0;  // contiguous on both sides; 0 when there are no elements
  CopyLoops loops;        // outermost first; dst_step falls and is positive
};

// Sets `*merged`. `dst` and `src` have one type and shape, and dst's elements lie apart.
// Unimplemented for elements smaller than a byte whose rows do not start and end at whole bytes on
// both sides.
absl::Status MergeCopy(const TensorView& dst, const TensorView& src, MergedCopy* merged);

// The same of a fill: both sides are dst.
absl::Status MergeFill(const TensorView& dst, MergedCopy* merged);

// A rectangle of `height` rows of `width` contiguous bytes; the pitches are at least the width and
// below 2^31, as the vendors ask.
struct PitchedCopy {
  unsigned char* dst;
  int64_t dst_pitch;
  const unsigned char* src;
  int64_t src_pitch;
  int64_t width;
  int64_t height;
};

// The copy as rectangles, one call each, until one fails: what is left where no kernel can run.
absl::Status ForEachPitchedCopy(const MergedCopy& copy,
                                absl::FunctionRef<absl::Status(const PitchedCopy&)> take);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_MERGE_H_
