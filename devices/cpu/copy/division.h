// How a copy that is larger than the cache is divided into blocks for a buffer (streamed.h).
//
//   Division division;
//   if (division.Divide(plan, tuning)) …      // false: dst has no rows worth it
//
// A block is `box`, the kernel's loops first: a part of each of some rows of dst. Blocks follow
// each other along `along`, which continues the rows without a gap; then come further rows, and all
// that is repeated for `outer`.

#ifndef DOVETAIL_DEVICES_CPU_COPY_DIVISION_H_
#define DOVETAIL_DEVICES_CPU_COPY_DIVISION_H_

#include <cstdint>

#include "dovetail/devices/cpu/copy/kernels/tuning.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct Division {
  // A block is no larger than tuning.buffer_bytes.
  bool Divide(const CopyPlan& plan, const CopyTuning& tuning);

  Loop box[CopyPlan::kMaxLoops];
  int box_rank = 0;
  int64_t box_row_bytes = 0;  // of the part of a row that is in a block

  // The plan's loop over rows, of which `rows_at_once` are box[1]; one row where there is none.
  Loop rows{1, 0, 0};
  int64_t rows_at_once = 1;
  bool has_rows() const { return rows.count > 1; }

  // box[cut] is a part of a loop of `cut_total` iterations (and along[0] counts the parts), where
  // cut_total > 0.
  int cut = 0;
  int64_t cut_total = 0;

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

#endif  // DOVETAIL_DEVICES_CPU_COPY_DIVISION_H_
