// Divides a plan into parts that may run on several threads.
//
//   const DividedPlan parts(plan, 8, 2);               // at most 8; 2 will do
//   for (int64_t i = 0; i < parts.count(); ++i) parts.Run(i, dst, src, options);
//
// Parts write no byte in common. Threads: each part on any.

#ifndef DOVETAIL_DEVICES_CPU_COPY_DIVIDED_PLAN_H_
#define DOVETAIL_DEVICES_CPU_COPY_DIVIDED_PLAN_H_

#include <cstdint>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class DividedPlan {
 public:
  // `plan` outlives the parts. A transpose is divided no further than leaves long pieces of each
  // row of src, but into `least` parts where it can be.
  DividedPlan(const CopyPlan& plan, int64_t most, int64_t least);

  // At least 1; fewer than wanted where no loop can be divided so often.
  int64_t count() const { return divided_.count(); }

  // dst and src as for Execute. A part is streamed where the whole would be.
  void Run(int64_t part, void* dst, const void* src, const ExecuteOptions& options = {}) const;

 private:
  void Choose(int64_t most, int64_t least);

  const CopyPlan& plan_;
  int at_ = 0;  // the loop of the plan that is divided
  internal_loop_nest::DividedLoop divided_{Loop{1, 0, 0}};
};

// The whole plan, on several threads where it is large enough. False when it was stopped before its
// end, which only very large copies look for (large_work.h).
[[nodiscard]] bool ExecuteInParts(const CopyPlan& plan, void* dst, const void* src);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_DIVIDED_PLAN_H_
