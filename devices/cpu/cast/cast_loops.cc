#include "dovetail/devices/cpu/cast/cast_loops.h"

#include <algorithm>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using internal_loop_nest::CeilDivide;
using internal_loop_nest::Divide;
using internal_loop_nest::Loop;
using internal_loop_nest::NormalForm;
using internal_loop_nest::Normalize;

constexpr NormalForm kForm{.ties = NormalForm::Ties::kShorterInSrc};

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
  Loop loops[internal_loop_nest::kMaxLoops];
  for (int i = 0; i < dst.rank(); ++i) {
    const int dim = dst.rank() - 1 - i;
    loops[i] = {dst.shape[dim], dst.strides[dim], src.strides[dim]};
  }
  Loop::Offsets start;
  int rank = Normalize<kForm>(loops, dst.rank(), &start);
  dst_start = start.dst;
  src_start = start.src;
  if (rank == 0) loops[rank++] = {1, 1, 1};
  for (int i = rank - 1; i >= 0; --i) {
    counts.push_back(loops[i].count);
    dst_strides.push_back(loops[i].dst_step);
    src_strides.push_back(loops[i].src_step);
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

// Divides the outermost loop that makes so many parts; if there is none, the one that makes the
// most. A loop that writes the same elements in each iteration stays whole.
DividedCast::DividedCast(const CastLoops& loops, absl::Span<const int64_t> grain, int64_t most)
    : loops_(loops), divided_(loops.loop(0)) {
  int64_t parts = 1;
  for (int dim = 0; dim < loops.rank(); ++dim) {
    const int64_t possible = std::min(CeilDivide(loops.counts[dim], grain[dim]), most);
    if (loops.dst_strides[dim] == 0 || possible <= parts) continue;
    parts = possible;
    dim_ = dim;
  }
  divided_ = Divide(loops.loop(dim_), parts, grain[dim_]);
}

CastLoops DividedCast::Get(int64_t part) const {
  CastLoops piece = loops_;
  const int64_t first = divided_.BeginOf(part);
  piece.counts[dim_] = divided_.SizeOf(part);
  piece.dst_start += first * loops_.dst_strides[dim_];
  piece.src_start += first * loops_.src_strides[dim_];
  return piece;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
