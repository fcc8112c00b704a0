// MergedCopy: a strided copy in its simplest form. Steps are in bytes, dimensions of size 1 are
// dropped, adjacent dimensions are merged where possible, and the loops follow the destination,
// whose addresses ascend.
//
//   MergedCopy copy;
//   absl::Status s = MergeCopy(dst, src, &copy);
//   copy.loops.empty()         // one contiguous run of run_bytes
//
// Borrows the memory. Sizes and steps are in bytes.

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
  CopyLoops loops;        // outermost first; dst_step is positive and descends
};

// Sets `*merged`. `dst` and `src` have the same type and shape, and dst's elements do not overlap.
// Unimplemented for sub-byte elements unless every row starts and ends at a whole byte on both
// sides.
absl::Status MergeCopy(const TensorView& dst, const TensorView& src, MergedCopy* merged);

// The same for a fill: both sides are dst.
absl::Status MergeFill(const TensorView& dst, MergedCopy* merged);

// A rectangle of `height` rows of `width` contiguous bytes. Pitches are at least the width and
// below 2^31, as the vendors require.
struct PitchedCopy {
  unsigned char* dst;
  int64_t dst_pitch;
  const unsigned char* src;
  int64_t src_pitch;
  int64_t width;
  int64_t height;
};

// Calls take() for each rectangle of the copy until a call fails. For devices without kernels.
absl::Status ForEachPitchedCopy(const MergedCopy& copy,
                                absl::FunctionRef<absl::Status(const PitchedCopy&)> take);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_MERGE_H_
