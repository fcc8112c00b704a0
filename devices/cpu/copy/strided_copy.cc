#include "dovetail/devices/cpu/copy/strided_copy.h"

#include "dovetail/core/layout.h"
#include "dovetail/devices/cpu/copy/bits/bits.h"
#include "dovetail/devices/cpu/copy/divided_plan.h"
#include "dovetail/devices/cpu/copy/few.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// Bytes from one element to the next, in both views; 0 if elements share bytes or the views differ.
int64_t BytesOfElements(const TensorView& dst, const TensorView& src) {
  const int64_t bits = StepBits(dst.dtype, dst.packing);
  return bits % 8 == 0 && bits == StepBits(src.dtype, src.packing) ? bits / 8 : 0;
}

template <int kSize, bool kInRows>
bool CopyOf(const TensorView& dst, const TensorView& src) {
  const auto copy = kInRows ? cpu::CopyFewInRows<kSize> : cpu::CopyFew<kSize>;
  copy(static_cast<char*>(dst.data), static_cast<const char*>(src.data), dst.shape.data(),
       dst.strides.data(), src.strides.data(), dst.rank());
  return true;
}

// False if there are more than kMost elements, or their size is odd.
template <int64_t kMost>
[[gnu::always_inline]] inline bool CopyIfAtMost(const TensorView& dst, const TensorView& src,
                                                int64_t size) {
  constexpr bool kInRows = kMost > cpu::kFew;
  int64_t count = 1;
  for (int64_t n : dst.shape) {
    if (n > kMost || (count *= n) > kMost) return false;
  }
  if (count == 0) return true;
  switch (size) {
    case 1:
      return CopyOf<1, kInRows>(dst, src);
    case 2:
      return CopyOf<2, kInRows>(dst, src);
    case 4:
      return CopyOf<4, kInRows>(dst, src);
    case 8:
      return CopyOf<8, kInRows>(dst, src);
    case 16:
      return CopyOf<16, kInRows>(dst, src);
    default:
      return false;
  }
}

void Plan(const TensorView& dst, const TensorView& src, int64_t size, cpu::CopyPlan* plan) {
  for (int i = dst.rank() - 1; i >= 0; --i) {
    if (dst.shape[i] <= 1) {  // its strides mean nothing and may be anything
      plan->Add({dst.shape[i], 0, 0});
    } else {
      plan->Add({dst.shape[i], WrappingMultiply(dst.strides[i], size),
                 WrappingMultiply(src.strides[i], size)});
    }
  }
  plan->Finish(size);
}

// Out of line, as copies of bits are, so that a copy of a few elements does not pay for the stack
// of a plan.
[[gnu::noinline]] bool CopyByPlan(const TensorView& dst, const TensorView& src, int64_t size) {
  cpu::CopyPlan plan;
  Plan(dst, src, size, &plan);
  return cpu::ExecuteInParts(plan, dst.data, src.data);
}

// Copies more than kFew elements. Out of line, so that fewer elements pay nothing for it.
[[gnu::noinline]] bool CopyMore(const TensorView& dst, const TensorView& src, int64_t size) {
  if (dst.rank() <= 2 && CopyIfAtMost<cpu::kFewInRows>(dst, src, size)) return true;
  return CopyByPlan(dst, src, size);
}

[[gnu::noinline]] bool CopyBits(const TensorView& dst, const TensorView& src) {
  return cpu::BitLoops(dst, src).Copy(dst.data, src.data);
}

}  // namespace

bool PlanStridedCopy(const TensorView& dst, const TensorView& src, cpu::CopyPlan* plan) {
  const int64_t size = BytesOfElements(dst, src);
  if (size == 0) return false;
  Plan(dst, src, size, plan);
  return true;
}

bool StridedCopy(const TensorView& dst, const TensorView& src) {
  const int64_t size = BytesOfElements(dst, src);
  if (size == 0) return CopyBits(dst, src);
  return CopyIfAtMost<cpu::kFew>(dst, src, size) || CopyMore(dst, src, size);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
