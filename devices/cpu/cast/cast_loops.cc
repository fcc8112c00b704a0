#include "dovetail/devices/cpu/cast/cast_loops.h"

#include <cstdlib>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct Loop {
  int64_t count, dst_stride, src_stride;
};

// The destination's steps decide, then the source's: the smallest innermost.
bool IsOutside(const Loop& a, const Loop& b) {
  if (a.dst_stride != b.dst_stride) return a.dst_stride > b.dst_stride;
  return std::abs(a.src_stride) > std::abs(b.src_stride);
}

}  // namespace

CastDims DenseStrides(absl::Span<const int64_t> extents) {
  CastDims strides(extents.size());
  int64_t step = 1;
  for (int i = static_cast<int>(extents.size()) - 1; i >= 0; --i) {
    strides[i] = step;
    step *= extents[i];
  }
  return strides;
}

int64_t Product(absl::Span<const int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

CastLoops::CastLoops(const TensorView& dst, const TensorView& src) {
  absl::InlinedVector<Loop, Layout::kInlineRank> loops;
  for (int i = 0; i < dst.rank(); ++i) {
    Loop loop{dst.shape[i], dst.strides[i], src.strides[i]};
    if (loop.count == 1) continue;  // its strides mean nothing and may be anything
    if (loop.dst_stride < 0) {
      dst_start += (loop.count - 1) * loop.dst_stride;
      src_start += (loop.count - 1) * loop.src_stride;
      loop.dst_stride = -loop.dst_stride;
      loop.src_stride = -loop.src_stride;
    }
    // In order; std::stable_sort would take memory.
    loops.insert(std::upper_bound(loops.begin(), loops.end(), loop, IsOutside), loop);
  }
  for (const Loop& loop : loops) {
    if (!counts.empty() && dst_strides.back() == loop.count * loop.dst_stride &&
        src_strides.back() == loop.count * loop.src_stride) {
      counts.back() *= loop.count;
      dst_strides.back() = loop.dst_stride;
      src_strides.back() = loop.src_stride;
    } else {
      counts.push_back(loop.count);
      dst_strides.push_back(loop.dst_stride);
      src_strides.push_back(loop.src_stride);
    }
  }
  if (counts.empty()) {
    counts.push_back(1);
    dst_strides.push_back(1);
    src_strides.push_back(1);
  }
}

bool CastLoops::IsDense(absl::Span<const int64_t> extents, absl::Span<const int64_t> strides) {
  int64_t step = 1;
  for (int i = static_cast<int>(extents.size()) - 1; i >= 0; --i) {
    if (extents[i] != 1 && strides[i] != step) return false;
    step *= extents[i];
  }
  return true;
}

// The outermost loop that can be divided so often; else the one that can be divided most. A loop
// that writes its elements over and over is left whole.
CastParts::CastParts(const CastLoops& loops, absl::Span<const int64_t> grain, int64_t most)
    : loops_(loops) {
  int64_t pieces = 1;
  for (int i = 0; i < loops.rank(); ++i) {
    const int64_t possible = std::min((loops.counts[i] + grain[i] - 1) / grain[i], most);
    if (loops.dst_strides[i] == 0 || possible <= pieces) continue;
    pieces = possible;
    loop_ = i;
  }
  const int64_t grains = (loops.counts[loop_] + grain[loop_] - 1) / grain[loop_];
  turns_ = (grains + pieces - 1) / pieces * grain[loop_];
  count_ = (loops.counts[loop_] + turns_ - 1) / turns_;
}

CastLoops CastParts::Get(int64_t part) const {
  CastLoops piece = loops_;
  const int64_t first = part * turns_;
  piece.counts[loop_] = std::min(turns_, loops_.counts[loop_] - first);
  piece.dst_start += first * loops_.dst_strides[loop_];
  piece.src_start += first * loops_.src_strides[loop_];
  return piece;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
