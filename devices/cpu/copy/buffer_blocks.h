// The blocks in which a copy that is larger than the cache goes through a buffer (streamed.h).
//
//   BufferBlocks blocks;
//   if (blocks.Find(plan, tuning)) …          // false: dst has no rows worth it
//
// A block is `box`, the kernel's loops first: a part of each of some rows of dst. Blocks follow
// each other along `along`, which continues the rows without a gap, then to further rows. All that
// is repeated for `outer`.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BUFFER_BLOCKS_H_
#define DOVETAIL_DEVICES_CPU_COPY_BUFFER_BLOCKS_H_

#include <cstdint>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/devices/cpu/copy/kernels/tuning.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct BufferBlocks {
  // A block has tuning.buffer_bytes at most.
  bool Find(const CopyPlan& plan, const CopyTuning& tuning);

  Loop box[CopyPlan::kMaxLoops];
  int box_rank = 0;
  int64_t box_row_bytes = 0;  // bytes of a row of dst that are in a block

  // The plan's loop over rows. A part of it is box[1]. One iteration if there is no such loop.
  internal_loop_nest::DividedLoop rows{Loop{1, 0, 0}};
  bool has_rows() const { return rows.loop().count > 1; }

  // The loop of which box[cut_at] is a part, if there is one. along[0] counts its parts.
  std::optional<internal_loop_nest::DividedLoop> cut;
  int cut_at = 0;

  Loop along[CopyPlan::kMaxLoops];
  int along_rank = 0;
  Loop outer[CopyPlan::kMaxLoops];
  int outer_rank = 0;

 private:
  void TakeIntoBox(const CopyPlan& plan, int64_t most_bytes, const int* chain, int length,
                   int kernel_loops);
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_BUFFER_BLOCKS_H_
