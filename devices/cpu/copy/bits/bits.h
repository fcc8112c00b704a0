// Copies of sub-byte elements.
//
//   BitLoops loops(dst, src);                // steps are bits
//   loops.Copy(dst.data, src.data);
//
// Runs of elements that are whole bytes in dst and src are copied as bytes, by a CopyPlan. Others
// go through tiles of bytes (bit_tiles.h), and what is too little for that, bit by bit.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BITS_BITS_H_
#define DOVETAIL_DEVICES_CPU_COPY_BITS_BITS_H_

#include <cstdint>

#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class BitLoops {
 public:
  // The views have the same type and shape. Their memory is not read.
  BitLoops(const TensorView& dst, const TensorView& src);

  // dst and src do not overlap. The upper bits of padded elements are cleared. False if the copy
  // was stopped (core/internal/threads/interruption.h).
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

#endif  // DOVETAIL_DEVICES_CPU_COPY_BITS_BITS_H_
