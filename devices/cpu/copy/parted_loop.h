// A loop in parts of about the same number of iterations.
//
//   const PartedLoop parted({10, 4, 400}, 4);    // at most 4 turns: 4, 4 and 2
//   parted.Parts()                               // {3, 16, 1600}: from part to part
//   parted.TurnsOf(2)                            // 2

#ifndef DOVETAIL_DEVICES_CPU_COPY_PARTED_LOOP_H_
#define DOVETAIL_DEVICES_CPU_COPY_PARTED_LOOP_H_

#include <algorithm>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct PartedLoop {
  Loop loop;
  int64_t turns;  // of each part but the last, which may have fewer

  // Of at most `most` turns.
  PartedLoop(const Loop& whole, int64_t most) : loop(whole) {
    const int64_t count = (whole.count + most - 1) / most;
    turns = (whole.count + count - 1) / count;
  }

  Loop Parts() const {
    return {(loop.count + turns - 1) / turns, turns * loop.dst_step, turns * loop.src_step};
  }
  int64_t TurnsOf(int64_t part) const { return std::min(turns, loop.count - part * turns); }
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_PARTED_LOOP_H_
