// Which kernel a plan is for, and the order of its loops for that: CopyPlan::ChooseKernel.

#include <algorithm>
#include <cstdlib>

#include "dovetail/devices/cpu/copy/kernels/shuffle_tables.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Fewer elements are copied one by one before a kernel is called and has begun.
constexpr int64_t kShortestReversed = 16;    // of a row in the opposite order
constexpr int64_t kShortestOfPlane = 128;    // of a row of every second to fourth element
constexpr int64_t kShortestGapped = 16;      // of a row with small gaps on one side,
constexpr int64_t kLeastGapped = 64;         // and bytes of it
constexpr int64_t kLeastOfPlanes = 48;       // of all planes that are deinterleaved or interleaved
constexpr int64_t kLeastOfTileSide = 4;      // of each side of a transposed tile,
constexpr int64_t kLeastOfTile = 128;        // and of all of it
constexpr int64_t kLeastOfGroups = 192;      // bytes of all of them
constexpr int64_t kLeastOfGroupTile = 1024;  // bytes of all groups that are transposed
constexpr int64_t kLeastOfPlaneRow = 64;  // bytes in dst, of planes with gaps that are transposed

// Bytes between two rows from which on it is all the same how far apart they are.
constexpr int64_t kFar = 4096;

}  // namespace

void CopyPlan::MoveTo(int from, int to) {
  const Loop loop = loops[from];
  for (int i = from; i > to; --i) loops[i] = loops[i - 1];
  loops[to] = loop;
}

// The loop, other than loops[0], that is dense in src; 0 where there is none.
int CopyPlan::FindDenseInSrc() const {
  for (int i = 1; i < rank; ++i) {
    if (std::abs(loops[i].src_step) == unit()) return i;
  }
  return 0;
}

// Whether `a` goes inside `b`, around a kernel. Where rows of dst are written whole, by what an
// iteration reaches on both sides, and twice for dst: what is written is read before, and in part
// again where a row ends within a line. Else by the side where that is less.
bool CopyPlan::GoesInside(const Loop& a, const Loop& b) const {
  auto reach = [](const Loop& loop) {
    return 2 * std::min(std::abs(loop.dst_step), kFar) + std::min(std::abs(loop.src_step), kFar);
  };
  const bool whole_rows =
      kernel == CopyKernel::kRows || kernel == CopyKernel::kFill || kernel == CopyKernel::kScatter;
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

// The kernel for rows of dst that are not dense in src, where no other loop is either.
CopyKernel CopyPlan::ChooseRowKernel() const {
  const Loop& row = loops[0];
  if (row.src_step == 0) return CopyKernel::kFill;
  if (row.src_step == -unit() && row.count >= kShortestReversed) return CopyKernel::kDeinterleave;
  // Of wide elements, a vector takes few at a time.
  const int64_t least = unit() < 8 ? kShortestOfPlane : 2 * kShortestOfPlane;
  if (Stride() > 0 && row.count >= least) return CopyKernel::kDeinterleave;
  return HasSmallGaps(row.src_step) ? CopyKernel::kGather : CopyKernel::kElements;
}

// What reads `outer` as it lies in src and writes loops[0] as it lies in dst.
CopyKernel CopyPlan::ChooseTileKernel(const Loop& outer) const {
  const Loop& inner = loops[0];
  const bool is_worth = inner.count * outer.count >= kLeastOfPlanes;
  const int64_t lane = 16 / unit();  // elements of the least vector
  if (is_worth && std::abs(Stride()) >= outer.count && inner.count >= lane) {
    return CopyKernel::kDeinterleave;
  }
  const bool follows = outer.dst_step == inner.count * unit();
  if (is_worth && follows && inner.count <= kMaxStride && outer.count >= lane) {
    return CopyKernel::kInterleave;
  }
  if (inner.count * outer.count >= kLeastOfTile && IsNarrow(outer)) return CopyKernel::kTranspose;
  const int64_t side = std::max(lane, kLeastOfTileSide);
  if (inner.count >= side && outer.count >= side && inner.count * outer.count >= kLeastOfTile) {
    return CopyKernel::kTranspose;
  }
  return CopyKernel::kElements;
}

// Whether the planes, loops[0] or `outer`, fill no lane but can be transposed by lanes.
bool CopyPlan::IsNarrow(const Loop& outer) const {
  const Loop& inner = loops[0];
  const int64_t least = 2 * kLaneBytes / unit();  // of the other side
  if (outer.src_step < 0) return false;
  if (IsNarrowInSrc(inner, outer, unit())) return inner.count >= least;
  return IsNarrowInDst(inner, outer, unit()) && outer.count >= least;
}

// How many elements of src loops[0] steps by, forwards or back, if they are few; else 0.
int64_t CopyPlan::Stride() const {
  const int64_t stride = loops[0].src_step / unit(), elements = std::abs(stride);
  const bool is_small = loops[0].src_step % unit() == 0 && elements >= 2 && elements <= kMaxStride;
  return is_small ? stride : 0;
}

// Whether loops[0], which has this step on one side, is worth being collected or spread.
bool CopyPlan::HasSmallGaps(int64_t step) const {
  return step > 0 && step <= WidestGap(unit()) && step % unit() == 0 &&
         loops[0].count >= kShortestGapped && loops[0].count * unit() >= kLeastGapped;
}

// Whether elements without gaps, or one, go into a row with small gaps.
bool CopyPlan::IsScatter() const {
  const Loop& row = loops[0];
  return (row.src_step == unit() || row.src_step == 0) && HasSmallGaps(row.dst_step);
}

// Whether loops[0] is a small group in dst and src, and the next one near on both sides.
bool CopyPlan::IsPermuted() const {
  if (rank < 2) return false;
  const Loop &group = loops[0], &next = loops[1];
  const int64_t bytes = group.count * unit(), near = std::abs(next.src_step);
  const int64_t span = (group.count - 1) * std::abs(group.src_step) + unit();
  if (bytes > kLaneBytes || span > kLaneBytes || next.dst_step > kLaneBytes) return false;
  // A few equal ones are like planes, which vectors are put together from.
  if (group.src_step == 0 && near == unit() && group.count <= kMaxStride) return false;
  return near > 0 && near <= kFarthestPixel && next.count * bytes >= kLeastOfGroups;
}

// The loop that goes along src as loops[1] does along dst, where loops[0] is a short row, dense on
// both sides, of a size that is no element's; 0 where there is none.
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

// Whether loops[0] steps a few elements back in src.
bool CopyPlan::IsSteppedBack() const {
  const int64_t step = loops[0].src_step;
  const bool has_room = rank < kMaxLoops && loops[0].count * unit() >= 2 * kLeastOfGroups;
  return step < -unit() && unit() - step <= kLaneBytes && has_room;
}

// Each element by itself is a group then.
void CopyPlan::MakeGroupOfOne() {
  std::copy_backward(loops, loops + rank, loops + rank + 1);
  loops[0] = {1, unit(), unit()};
  ++rank;
}

// The loop that goes along src as dst's loops[0] does along dst becomes loops[1], forwards there
// unless the pixels that are interleaved are to follow each other in dst.
void CopyPlan::MakeTile(int along) {
  MoveTo(along, 1);
  Loop& outer = loops[1];
  if (outer.src_step < 0 && kernel != CopyKernel::kInterleave) {
    dst_offset += (outer.count - 1) * outer.dst_step;
    src_offset += (outer.count - 1) * outer.src_step;
    outer.dst_step = -outer.dst_step;
    outer.src_step = -outer.src_step;
  }
  SortOuter(2);
}

// Whether a lane of src holds several elements of `outer`, and tiles of it are worth it.
bool CopyPlan::HasGapsInSrc(const Loop& outer) const {
  const Loop& inner = loops[0];
  const int64_t step = std::abs(outer.src_step), lane = kLaneBytes / unit();
  return inner.dst_step == unit() && step % unit() == 0 && 2 * step <= kLaneBytes &&
         inner.count >= 2 * lane && outer.count * step >= kLaneBytes &&
         inner.count * outer.count >= kLeastOfTile;
}

// The loop with the shortest step in src that is not 0; with_gaps: among those for which
// HasGapsInSrc. 0 where there is none, or none with a shorter one than loops[0].
int CopyPlan::FindNearestInSrc(bool with_gaps) const {
  int nearest = 0;
  for (int i = 1; i < rank; ++i) {
    const int64_t step = std::abs(loops[i].src_step);
    if (with_gaps && !HasGapsInSrc(loops[i])) continue;
    if (step != 0 && step < std::abs(loops[nearest].src_step)) nearest = i;
  }
  return nearest;
}

// The nearest loop in src is the other one of the tile, or, where it has too few iterations for
// that (the channels of pixels, say), the next one. Where the innermost loop of dst reaches no new
// memory there, elements go in the order of dst.
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
    if (!IsScatter()) return OrderElements();
    kernel = CopyKernel::kScatter;
    return SortOuter(1);
  }
  if (IsPermuted()) {
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
  if (dense == 0 && IsSteppedBack()) {
    MakeGroupOfOne();
    kernel = CopyKernel::kPermute;
    return SortOuter(2);
  }
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
