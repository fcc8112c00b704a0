// Copies of elements that share bytes.
//
//   BitLoops loops(dst, src);                // steps are bits
//   loops.Copy(dst.data, src.data);
//
// Runs of elements that fall on whole bytes on both sides are copied as bytes, by a plan like any
// other's; what remains goes bit by bit.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BITS_H_
#define DOVETAIL_DEVICES_CPU_COPY_BITS_H_

#include <cstdint>

#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class BitLoops {
 public:
  // Of one type and shape; their memory is not looked at.
  BitLoops(const TensorView& dst, const TensorView& src);

  // No bytes in common. A padded element's upper bits are cleared.
  // False when it was stopped (core/interruption.h).
  [[nodiscard]] bool Copy(void* dst, const void* src) const;

 private:
  bool CopyBytes(char* dst, const char* src, int dense, int64_t groups, int64_t group_bytes) const;
  void CopyBits(char* dst, const char* src) const;

  int bits_;          // of an element
  int64_t dst_step_;  // bits from one element to the next
  int64_t src_step_;
  bool empty_ = false;
  int rank_ = 0;
  Loop loops_[CopyPlan::kMaxLoops];  // the innermost first
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_BITS_H_
