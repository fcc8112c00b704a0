// CopyPlan::ChooseKernel: the kernel of a plan, and the order of its loops.

#include <algorithm>
#include <cstdlib>

#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least sizes for which kernels are faster: fewer elements are copied one by one sooner than a
// kernel starts. Counts are elements unless they say bytes.
constexpr int64_t kShortestGapped = 16;      // of a row with small gaps, or reversed,
constexpr int64_t kLeastGapped = 64;         // and bytes of it
constexpr int64_t kLeastPermuted = 128;      // of all that is permuted
constexpr int64_t kLeastOfTileSide = 4;      // of each side of a transposed tile,
constexpr int64_t kLeastOfTile = 96;         // and of all of it
constexpr int64_t kLeastOfGroups = 192;      // bytes of all of them
constexpr int64_t kLeastOfGroupTile = 1024;  // bytes of all groups that are transposed
constexpr int64_t kLeastOfPlaneRow = 64;  // bytes in dst, of planes with gaps that are transposed
constexpr int64_t kMostPlanes = 4;        // that are permuted; more are transposed

// From this distance on, in bytes, it does not matter how far apart two rows are: a page.
constexpr int64_t kFar = 4096;

}  // namespace

void CopyPlan::MoveTo(int from, int to) {
  const Loop loop = loops[from];
  for (int i = from; i > to; --i) loops[i] = loops[i - 1];
  loops[to] = loop;
}

// The loop after loops[0] that is dense in src; 0 if there is none.
int CopyPlan::FindDenseInSrc() const {
  for (int i = 1; i < rank; ++i) {
    if (std::abs(loops[i].src_step) == unit()) return i;
  }
  return 0;
}

// Whether loop `a` goes inside `b`, around a kernel. If the kernel writes whole rows of dst, the
// loop that reaches less memory per iteration goes inside. Memory of dst counts twice, because
// written lines are read first. Otherwise only the side with the smaller step counts.
bool CopyPlan::GoesInside(const Loop& a, const Loop& b) const {
  auto reach = [](const Loop& loop) {
    return 2 * std::min(std::abs(loop.dst_step), kFar) + std::min(std::abs(loop.src_step), kFar);
  };
  const bool whole_rows = kernel == CopyKernel::kRows || kernel == CopyKernel::kFill ||
                          (kernel == CopyKernel::kPermute && loops[0].dst_step > unit());
  if (whole_rows && reach(a) != reach(b)) return reach(a) < reach(b);
  return Cost(a) < Cost(b);
}

void CopyPlan::SortOuter(int first) {
  for (int i = first + 1; i < rank; ++i) {
    int at = i;
    while (at > first && GoesInside(loops[i], loops[at - 1])) --at;
    MoveTo(i, at);
  }
}

// The kernel for rows of dst if no loop is dense in src.
CopyKernel CopyPlan::ChooseRowKernel() const {
  if (loops[0].src_step == 0) return CopyKernel::kFill;
  return IsPermutedRow() ? CopyKernel::kPermute : CopyKernel::kElements;
}

// The kernel for a tile of loops[0], which is dense in dst, and `outer`, which is dense in src.
CopyKernel CopyPlan::ChooseTileKernel(const Loop& outer) const {
  const Loop& inner = loops[0];
  const int64_t lane = kLaneBytes / unit();  // elements of the least vector
  const bool is_worth = inner.count * outer.count >= kLeastPermuted;
  // Planes of pixels on one side, such as one of each channel.
  const bool lie_inside = outer.count * unit() <= std::abs(inner.src_step) &&
                          std::abs(inner.src_step) <= kMostPlanes * unit();
  const bool follow = outer.dst_step == inner.count * unit() && inner.count <= kMostPlanes;
  if (is_worth && lie_inside && inner.count >= lane) return CopyKernel::kPermute;
  if (is_worth && follow && outer.count >= lane) return CopyKernel::kPermute;
  if (inner.count * outer.count >= kLeastOfTile && IsNarrow(outer)) return CopyKernel::kTranspose;
  const int64_t side = std::max(lane, kLeastOfTileSide);
  if (inner.count >= side && outer.count >= side && inner.count * outer.count >= kLeastOfTile) {
    return CopyKernel::kTranspose;
  }
  return CopyKernel::kElements;
}

// Whether the planes, loops[0] or `outer`, are narrower than a lane but can be transposed by lanes.
bool CopyPlan::IsNarrow(const Loop& outer) const {
  const Loop& inner = loops[0];
  const int64_t least = 2 * kLaneBytes / unit();  // of the other side
  if (outer.src_step < 0) return false;
  if (IsNarrowInSrc(inner, outer, unit())) return inner.count >= least;
  return IsNarrowInDst(inner, outer, unit()) && outer.count >= least;
}

// Whether loops[0] has small gaps on one side or both, or is reversed.
bool CopyPlan::IsPermutedRow() const {
  const Loop& row = loops[0];
  const int64_t widest = WidestGap(unit());
  return row.dst_step <= widest && std::abs(row.src_step) <= widest &&
         row.count >= kShortestGapped && row.count * unit() >= kLeastGapped &&
         bytes >= kLeastPermuted * unit();
}

// Whether loops[0] is a small group in dst and src, and the next group is near in both.
bool CopyPlan::HasPermutedGroups() const {
  if (rank < 2) return false;
  const Loop &group = loops[0], &next = loops[1];
  const int64_t group_bytes = group.count * unit(), near = std::abs(next.src_step);
  const int64_t span = (group.count - 1) * std::abs(group.src_step) + unit();
  if (group_bytes > kLaneBytes || span > kLaneBytes || next.dst_step > kLaneBytes) return false;
  return near > 0 && near <= kFarthestPixel && next.count * group_bytes >= kLeastOfGroups;
}

// For a loops[0] that is a short row, dense in dst and src, of a size that is no unit: the loop
// that goes along src as loops[1] goes along dst. 0 if there is none.
int CopyPlan::FindNearGroups() const {
  if (rank < 3) return 0;
  const Loop &group = loops[0], &along = loops[1];
  const int64_t bytes = group.count * unit();
  if (group.src_step != unit() || bytes >= kLaneBytes || along.dst_step != bytes) return 0;
  int nearest = 0;
  for (int i = 2; i < rank; ++i) {
    const int64_t near = std::abs(loops[i].src_step);
    if (near < bytes || near > 2 * kLaneBytes || near >= std::abs(along.src_step)) continue;
    if (nearest == 0 || near < std::abs(loops[nearest].src_step)) nearest = i;
  }
  const bool is_worth = nearest > 0 && along.count >= kLeastOfTileSide &&
                        loops[nearest].count >= kLeastOfTileSide &&
                        along.count * loops[nearest].count * bytes >= kLeastOfGroupTile;
  return is_worth ? nearest : 0;
}

// Makes loops[along], which goes along src as loops[0] goes along dst, loops[1]. Turns it forwards
// in src, except for groups, which must ascend in dst.
void CopyPlan::MakeTile(int along) {
  MoveTo(along, 1);
  Loop& outer = loops[1];
  if (outer.src_step < 0 && !HasGroups()) {
    dst_offset += (outer.count - 1) * outer.dst_step;
    src_offset += (outer.count - 1) * outer.src_step;
    outer.dst_step = -outer.dst_step;
    outer.src_step = -outer.src_step;
  }
  SortOuter(2);
}

// Whether a lane of src holds several elements of `outer`, and tiles of them are worth it.
bool CopyPlan::HasGapsInSrc(const Loop& outer) const {
  const Loop& inner = loops[0];
  const int64_t step = std::abs(outer.src_step), lane = kLaneBytes / unit();
  return inner.dst_step == unit() && step % unit() == 0 && 2 * step <= kLaneBytes &&
         inner.count >= 2 * lane && outer.count * step >= kLaneBytes &&
         inner.count * outer.count >= kLeastOfTile;
}

// The loop with the shortest nonzero step in src, if it is shorter than that of loops[0]; else 0.
// with_gaps: only loops for which HasGapsInSrc is true.
int CopyPlan::FindNearestInSrc(bool with_gaps) const {
  int nearest = 0;
  for (int i = 1; i < rank; ++i) {
    const int64_t step = std::abs(loops[i].src_step);
    if (with_gaps && !HasGapsInSrc(loops[i])) continue;
    if (step != 0 && step < std::abs(loops[nearest].src_step)) nearest = i;
  }
  return nearest;
}

// The loop that is nearest in src makes a tile with loops[0]; if it has too few iterations for
// kTransposeGaps (the channels of pixels, say), the next nearest one that has enough does. If
// loops[0] repeats one element of src, the order of dst is kept.
void CopyPlan::OrderElements() {
  const int nearest = FindNearestInSrc(/*with_gaps=*/false);
  const int with_gaps = FindNearestInSrc(/*with_gaps=*/true);
  if (with_gaps > 0 && (with_gaps == nearest || loops[0].count * unit() >= kLeastOfPlaneRow)) {
    kernel = CopyKernel::kTransposeGaps;
    return MakeTile(with_gaps);
  }
  if (nearest > 0) return MakeTile(nearest);
  if (loops[0].src_step != 0) SortOuter(1);
}

void CopyPlan::ChooseKernel() {
  kernel = CopyKernel::kElements;
  if (rank == 0) return;
  const Loop& inner = loops[0];
  if (inner.dst_step != unit()) {
    if (!IsPermutedRow()) return OrderElements();
    kernel = CopyKernel::kPermute;
    return SortOuter(1);
  }
  if (HasPermutedGroups()) {
    kernel = CopyKernel::kPermute;
    return SortOuter(2);
  }
  if (const int near = FindNearGroups(); near > 0) {
    kernel = CopyKernel::kTransposeGroups;
    MoveTo(near, 2);
    return SortOuter(3);
  }
  if (inner.src_step == unit()) {
    kernel = CopyKernel::kRows;
    return SortOuter(1);
  }
  const int dense = FindDenseInSrc();
  if (dense == 0 || (inner.src_step == 0 && inner.count >= 16 / unit())) {
    kernel = ChooseRowKernel();
    return kernel == CopyKernel::kElements ? OrderElements() : SortOuter(1);
  }
  kernel = ChooseTileKernel(loops[dense]);
  return kernel == CopyKernel::kElements ? OrderElements() : MakeTile(dense);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
