// Divides a plan into parts that may run on several threads.
//
//   const DividedPlan parts(plan, 8, 2);               // at most 8 parts, 2 are enough
//   for (int64_t i = 0; i < parts.count(); ++i) parts.Run(i, dst, src, options);
//
// Parts write no byte in common, so each can run on any thread.

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
  // `plan` outlives this. A transpose has only as many parts as keep long stretches of each row of
  // src, but `least` parts if possible.
  DividedPlan(const CopyPlan& plan, int64_t most, int64_t least);

  // At least 1. Less than wanted if no loop has so many iterations to divide.
  int64_t count() const { return divided_.count(); }

  // dst and src as for Execute. A part uses streaming stores if the whole copy would.
  void Run(int64_t part, void* dst, const void* src, const ExecuteOptions& options = {}) const;

 private:
  void Choose(int64_t most, int64_t least);

  const CopyPlan& plan_;
  int at_ = 0;  // the loop of the plan that is divided
  internal_loop_nest::DividedLoop divided_{Loop{1, 0, 0}};
};

// Executes the whole plan, on several threads if it is large. False if it was stopped before its
// end; only very large copies check for that (large_work.h).
[[nodiscard]] bool ExecuteInParts(const CopyPlan& plan, void* dst, const void* src);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_DIVIDED_PLAN_H_
