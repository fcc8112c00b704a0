#include "dovetail/devices/cpu/strided_copy.h"

#include "dovetail/core/layout.h"
#include "dovetail/devices/cpu/copy/bits.h"
#include "dovetail/devices/cpu/copy/few.h"
#include "dovetail/devices/cpu/copy/parts.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

// The number of elements if they are few, else -1.
int64_t CountFew(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  bool few = true;
  for (int64_t size : shape) {
    if (size == 0) return 0;
    few = few && size <= cpu::kFew && (count *= size) <= cpu::kFew;
  }
  return few ? count : -1;
}

template <int kSize>
bool CopyFewOf(const TensorView& dst, const TensorView& src) {
  cpu::CopyFew<kSize>(static_cast<char*>(dst.data), static_cast<const char*>(src.data),
                      dst.shape.data(), dst.strides.data(), src.strides.data(), dst.rank());
  return true;
}

// False where they are not few, or of an odd size.
bool CopyFew(const TensorView& dst, const TensorView& src, int64_t size) {
  const int64_t count = CountFew(dst.shape);
  if (count <= 0) return count == 0;
  switch (size) {
    case 1:
      return CopyFewOf<1>(dst, src);
    case 2:
      return CopyFewOf<2>(dst, src);
    case 4:
      return CopyFewOf<4>(dst, src);
    case 8:
      return CopyFewOf<8>(dst, src);
    case 16:
      return CopyFewOf<16>(dst, src);
    default:
      return false;
  }
}

void Plan(const TensorView& dst, const TensorView& src, int64_t size, cpu::CopyPlan* plan) {
  for (int i = 0; i < dst.rank(); ++i) {
    if (dst.shape[i] <= 1) {  // its strides mean nothing and may be anything
      plan->Add({dst.shape[i], 0, 0});
    } else {
      plan->Add({dst.shape[i], WrappingMultiply(dst.strides[i], size),
                 WrappingMultiply(src.strides[i], size)});
    }
  }
  plan->Finish(size);
}

}  // namespace

bool PlanStridedCopy(const TensorView& dst, const TensorView& src, cpu::CopyPlan* plan) {
  const int64_t bits = StepBits(dst.dtype, dst.packing);
  if (bits % 8 != 0 || bits != StepBits(src.dtype, src.packing)) return false;
  Plan(dst, src, bits / 8, plan);
  return true;
}

bool StridedCopy(const TensorView& dst, const TensorView& src) {
  const int64_t bits = StepBits(dst.dtype, dst.packing);
  if (bits % 8 != 0 || bits != StepBits(src.dtype, src.packing)) {
    return cpu::BitLoops(dst, src).Copy(dst.data, src.data);
  }
  if (CopyFew(dst, src, bits / 8)) return true;
  cpu::CopyPlan plan;
  Plan(dst, src, bits / 8, &plan);
  return cpu::ExecuteInParts(plan, dst.data, src.data);
}

}  // namespace dovetail::inline DOVETAIL_ABI
