#include "dovetail/devices/gpu/kernels/merge.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// The dimensions of more than one turn, such that dst_step is positive, the largest first.
// `unit` is what an element's step is counted in: bytes, or bits where elements share bytes.
CopyLoops SortedLoops(const TensorView& dst, const TensorView& src, int64_t step, int64_t* dst_base,
                      int64_t* src_base) {
  CopyLoops loops;
  for (int i = 0; i < dst.rank(); ++i) {
    if (dst.shape[i] == 1) continue;  // its strides mean nothing
    CopyLoop loop{dst.shape[i], dst.strides[i] * step, src.strides[i] * step};
    if (loop.dst_step < 0) {
      *dst_base += (loop.count - 1) * loop.dst_step;
      *src_base += (loop.count - 1) * loop.src_step;
      loop.dst_step = -loop.dst_step;
      loop.src_step = -loop.src_step;
    }
    // In order; std::stable_sort would take memory.
    const auto is_outside = [](const CopyLoop& a, const CopyLoop& b) {
      return a.dst_step > b.dst_step;
    };
    loops.insert(std::upper_bound(loops.begin(), loops.end(), loop, is_outside), loop);
  }
  return loops;
}

// Whether one turn of `outer` goes on where all turns of `inner` end, on both sides.
bool Continues(const CopyLoop& outer, const CopyLoop& inner) {
  return outer.dst_step == inner.count * inner.dst_step &&
         outer.src_step == inner.count * inner.src_step;
}

CopyLoops MergeNeighbours(const CopyLoops& loops) {
  CopyLoops merged;
  for (const CopyLoop& loop : loops) {
    if (!merged.empty() && Continues(merged.back(), loop)) {
      merged.back() = {merged.back().count * loop.count, loop.dst_step, loop.src_step};
    } else {
      merged.push_back(loop);
    }
  }
  return merged;
}

// From bits to bytes; false where a row does not start or end at a whole byte.
bool ToBytes(MergedCopy& copy, int64_t& dst_base, int64_t& src_base) {
  int64_t all = copy.run_bytes | dst_base | src_base;
  for (const CopyLoop& loop : copy.loops) all |= loop.dst_step | loop.src_step;
  if (all % 8 != 0) return false;
  copy.run_bytes /= 8;
  dst_base /= 8;
  src_base /= 8;
  for (CopyLoop& loop : copy.loops) {
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
  int64_t dst_base = 0, src_base = 0;
  if (bits == StepBits(src.dtype, src.packing)) {
    copy.run_bytes = whole_bytes ? bits / 8 : bits;
    copy.loops = MergeNeighbours(SortedLoops(dst, src, copy.run_bytes, &dst_base, &src_base));
    if (!copy.loops.empty() && copy.loops.back().dst_step == copy.run_bytes &&
        copy.loops.back().src_step == copy.run_bytes) {
      copy.run_bytes *= copy.loops.back().count;
      copy.loops.pop_back();
    }
    if (whole_bytes || ToBytes(copy, dst_base, src_base)) {
      copy.dst += dst_base;
      copy.src += src_base;
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
  PitchedCopy piece{copy.dst, copy.run_bytes, copy.src, copy.run_bytes, copy.run_bytes, 1};
  constexpr int64_t kMaxPitch = INT32_MAX;
  if (!outer.empty()) {
    const CopyLoop& rows = outer.back();
    if (rows.dst_step >= copy.run_bytes && rows.src_step >= copy.run_bytes &&
        rows.dst_step <= kMaxPitch && rows.src_step <= kMaxPitch) {
      piece.dst_pitch = rows.dst_step;
      piece.src_pitch = rows.src_step;
      piece.height = rows.count;
      outer.pop_back();
    }
  }
  absl::InlinedVector<int64_t, 6> turn(outer.size(), 0);
  while (true) {
    if (absl::Status s = take(piece); !s.ok()) return s;
    int i = static_cast<int>(outer.size()) - 1;
    for (; i >= 0; --i) {
      piece.dst += outer[i].dst_step;
      piece.src += outer[i].src_step;
      if (++turn[i] < outer[i].count) break;
      piece.dst -= outer[i].count * outer[i].dst_step;
      piece.src -= outer[i].count * outer[i].src_step;
      turn[i] = 0;
    }
    if (i < 0) return absl::OkStatus();
  }
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
