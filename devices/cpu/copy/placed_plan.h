// A plan with the addresses of its first iteration, for copies of a plan in several parts.
//
//   PlacedPlan head{plan, dst, src}, rest = head;
//   head.plan.loops[0].count = 16;
//   head.RunCached(kernels);
//   rest.Skip(0, 16);                      // begins after it; counts do not change

#ifndef DOVETAIL_DEVICES_CPU_COPY_PLACED_PLAN_H_
#define DOVETAIL_DEVICES_CPU_COPY_PLACED_PLAN_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct PlacedPlan {
  CopyPlan plan;
  char* dst;
  const char* src;

  void Skip(int loop, int64_t iterations) {
    dst += iterations * plan.loops[loop].dst_step;
    src += iterations * plan.loops[loop].src_step;
  }
  void RunCached(const Kernels& kernels) const {
    ExecuteCached(plan.kernel, plan.unit_log2, plan.loops, plan.rank, dst, src, kernels);
  }
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_PLACED_PLAN_H_
