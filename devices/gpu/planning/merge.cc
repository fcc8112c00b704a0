#include "dovetail/devices/gpu/planning/merge.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

using internal_loop_nest::NormalForm;
using internal_loop_nest::Normalize;
using internal_loop_nest::Odometer;

// The dimensions in normal form, the outermost first. `step` is what an element's step is counted
// in: bytes, or bits where elements share bytes.
CopyLoops NormalLoops(const TensorView& dst, const TensorView& src, int64_t step,
                      Loop::Offsets* start) {
  CopyLoops loops(dst.rank());
  for (int i = 0; i < dst.rank(); ++i) {
    const int dim = dst.rank() - 1 - i;
    loops[i] = {dst.shape[dim], WrappingMultiply(dst.strides[dim], step),
                WrappingMultiply(src.strides[dim], step)};
  }
  loops.resize(Normalize<NormalForm{}>(loops.data(), dst.rank(), start));
  std::reverse(loops.begin(), loops.end());
  return loops;
}

// From bits to bytes; false where a row does not start or end at a whole byte.
bool ToBytes(MergedCopy& copy, Loop::Offsets& start) {
  int64_t all = copy.run_bytes | start.dst | start.src;
  for (const Loop& loop : copy.loops) all |= loop.dst_step | loop.src_step;
  if (all % 8 != 0) return false;
  copy.run_bytes /= 8;
  start.dst /= 8;
  start.src /= 8;
  for (Loop& loop : copy.loops) {
    loop.dst_step /= 8;
    loop.src_step /= 8;
  }
  return true;
}

}  // namespace

absl::Status MergeCopy(const TensorView& dst, const TensorView& src, MergedCopy* merged) {
  MergedCopy& copy = *merged;
  copy.run_bytes = 0;
  copy.loops.clear();
  copy.dst = static_cast<unsigned char*>(dst.data);
  copy.src = static_cast<const unsigned char*>(src.data);
  for (int64_t size : dst.shape) {
    if (size == 0) return absl::OkStatus();
  }
  const int64_t bits = StepBits(dst.dtype, dst.packing);
  const bool whole_bytes = bits % 8 == 0;
  Loop::Offsets start;
  if (bits == StepBits(src.dtype, src.packing)) {
    copy.run_bytes = whole_bytes ? bits / 8 : bits;
    copy.loops = NormalLoops(dst, src, copy.run_bytes, &start);
    if (!copy.loops.empty() && copy.loops.back().dst_step == copy.run_bytes &&
        copy.loops.back().src_step == copy.run_bytes) {
      copy.run_bytes *= copy.loops.back().count;
      copy.loops.pop_back();
    }
    if (whole_bytes || ToBytes(copy, start)) {
      copy.dst += start.dst;
      copy.src += start.src;
      return absl::OkStatus();
    }
  }
  return absl::UnimplementedError(
      absl::StrCat("A strided copy of ", dst.dtype.ToString(),
                   " on a GPU needs rows of whole bytes, packed alike on both sides; copy it on "
                   "the CPU, or lay the rows out so that each starts at a whole byte."));
}

absl::Status MergeFill(const TensorView& dst, MergedCopy* merged) {
  return MergeCopy(dst, dst, merged);
}

absl::Status ForEachPitchedCopy(const MergedCopy& copy,
                                absl::FunctionRef<absl::Status(const PitchedCopy&)> take) {
  if (copy.run_bytes == 0) return absl::OkStatus();
  CopyLoops outer = copy.loops;
  PitchedCopy rectangle{copy.dst, copy.run_bytes, copy.src, copy.run_bytes, copy.run_bytes, 1};
  constexpr int64_t kMaxPitch = INT32_MAX;
  if (!outer.empty()) {
    const Loop& rows = outer.back();
    if (rows.dst_step >= copy.run_bytes && rows.src_step >= copy.run_bytes &&
        rows.dst_step <= kMaxPitch && rows.src_step <= kMaxPitch) {
      rectangle.dst_pitch = rows.dst_step;
      rectangle.src_pitch = rows.src_step;
      rectangle.height = rows.count;
      outer.pop_back();
    }
  }
  std::reverse(outer.begin(), outer.end());
  Odometer at(outer.data(), static_cast<int>(outer.size()));
  do {
    rectangle.dst = copy.dst + at.dst;
    rectangle.src = copy.src + at.src;
    if (absl::Status s = take(rectangle); !s.ok()) return s;
  } while (at.Next());
  return absl::OkStatus();
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
