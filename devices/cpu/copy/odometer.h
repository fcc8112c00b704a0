// Counts through the iterations of loops, the first loop fastest, and keeps the offsets of both
// sides.
//
//   Odometer at(loops, rank);
//   do { … at.dst … at.src … } while (at.Next());

#ifndef DOVETAIL_DEVICES_CPU_COPY_ODOMETER_H_
#define DOVETAIL_DEVICES_CPU_COPY_ODOMETER_H_

#include <algorithm>

#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class Odometer {
 public:
  // `loops` outlives the odometer. No loops at all have one iteration.
  Odometer(const Loop* loops, int rank) : loops_(loops), rank_(rank) {
    std::fill(turn_, turn_ + rank, 0);
  }

  int64_t dst = 0;
  int64_t src = 0;

  int64_t turn(int loop) const { return turn_[loop]; }

  // False, and back at the start, after the last iteration.
  bool Next() {
    for (int i = 0; i < rank_; ++i) {
      dst += loops_[i].dst_step;
      src += loops_[i].src_step;
      if (++turn_[i] < loops_[i].count) return true;
      dst -= loops_[i].count * loops_[i].dst_step;
      src -= loops_[i].count * loops_[i].src_step;
      turn_[i] = 0;
    }
    return false;
  }

 private:
  const Loop* loops_;
  int rank_;
  int64_t turn_[CopyPlan::kMaxLoops];
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_ODOMETER_H_
