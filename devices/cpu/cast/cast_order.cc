#include "dovetail/devices/cpu/cast/cast_order.h"

#include <algorithm>
#include <cstdlib>

#include "dovetail/devices/cpu/cast/native.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/stream_threshold.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// As kLongCastRow, where tiles take longer: of elements with 8 bytes on one side, and between gaps.
constexpr int64_t kLongWideRow = 20;
// No more are cast one by one at once, whatever their layout; and of more, lines of at least so
// many.
constexpr int64_t kFewElements = 512;
constexpr int64_t kLeastOfLine = 16;
// Planes that are taken apart element by element: of rows so long at least, from so many bytes
// together at most, as many at a time as take so many bytes in src.
constexpr int64_t kLeastOfPlane = 256;
constexpr int64_t kWidestPixel = 48;
constexpr int64_t kPixelBytes = 2 << 20;
// Lines of src that stay in the nearest cache.
constexpr int64_t kNearLines = 256;
// Of a row that is divided among threads: whole lines of any type.
constexpr int64_t kRowGrain = 4096;

class Chooser {
 public:
  Chooser(const CastLoops& loops, const CastPath& path, DType src, DType dst)
      : loops_(loops),
        path_(path),
        src_(src),
        dst_(dst),
        inner_(loops.rank() - 1),
        src_step_(std::abs(loops.src_strides[inner_])),
        dst_step_(loops.dst_strides[inner_]) {}

  CastOrder Choose() const {
    if (HasLongRows()) return ByTwoLoops(CastWay::kRows, std::max(inner_ - 1, 0));
    const bool is_few = Product(loops_.counts) <= kFewElements;
    if (is_few || (!Repeats() && (HasLinesWithGaps() || HasPlanes() || GoesAcross()))) {
      if (StridedStep step = NativeStridedStep(src_, dst_); step != nullptr)
        return ByElements(step);
    }
    const int64_t elements = kCastTileBytes / std::max(src_.itemsize(), dst_.itemsize());
    return {.way = CastWay::kTiles, .box = ChooseBox(elements)};
  }

 private:
  bool IsWide() const { return std::max(src_.itemsize(), dst_.itemsize()) >= 8; }

  bool HasLongRows() const {
    if (dst_step_ != 1 || loops_.src_strides[inner_] != 1) return false;
    const int64_t row = loops_.counts[inner_];
    if (inner_ == 0) return true;
    const bool has_gaps = loops_.dst_strides[inner_ - 1] != row;
    return row >= (IsWide() || has_gaps ? kLongWideRow : kLongCastRow);
  }

  // Whether src stands still in a loop: tiles cast what it repeats once.
  bool Repeats() const {
    return std::find(loops_.src_strides.begin(), loops_.src_strides.end(), 0) !=
           loops_.src_strides.end();
  }

  // True if vectors can gather or scatter elements at this step.
  bool IsSmallGap(int64_t step, DType dtype) const {
    return !IsWide() && step > 0 && step * dtype.itemsize() <= cpu::WidestGap(dtype.itemsize());
  }

  // True if source and destination nest alike but one must go element by element: there are gaps on
  // both sides, or gaps between elements of 8 bytes, of which a vector holds too few.
  bool HasLinesWithGaps() const {
    for (int64_t stride : loops_.src_strides) {
      if (std::abs(stride) < src_step_) return false;
    }
    const bool is_gathered =
        src_step_ == 1 || (dst_step_ == 1 && IsSmallGap(loops_.src_strides[inner_], src_));
    const bool is_scattered = dst_step_ == 1 || IsSmallGap(dst_step_, dst_);
    return loops_.counts[inner_] >= kLeastOfLine && !(is_gathered && is_scattered);
  }

  // Whether dst has long rows, of which each takes one of the few elements that lie together in
  // src, and tiles would be too wide or would write to too many places in memory.
  bool HasPlanes() const {
    return dst_step_ == 1 && loops_.counts[inner_] >= kLeastOfPlane &&
           src_step_ * src_.itemsize() <= kWidestPixel &&
           (IsWide() || path_.IsPastCache(Product(loops_.counts)));
  }

  // Whether dst goes across src, where elements that are near have gaps between them or are wide,
  // so that tiles would be gathered one by one, from memory.
  bool GoesAcross() const {
    const int64_t step = std::abs(loops_.src_strides[FindPlanes()]);
    return step < src_step_ && (step > 1 || IsWide()) &&
           !cpu::Collide(kNearLines, src_step_ * src_.itemsize()) &&
           Product(loops_.counts) * (src_.itemsize() + dst_.itemsize()) >= 2 * StreamFrom().lines;
  }

  CastOrder ByElements(StridedStep step) const {
    const int planes = FindPlanes(), next = std::max(inner_ - 1, 0);
    int64_t lines = 1;  // of src, before a turn of `planes` comes back to them
    for (int i = planes + 1; i <= inner_; ++i) lines *= loops_.counts[i];
    CastOrder order = ByTwoLoops(CastWay::kElements, lines <= kNearLines ? next : planes);
    order.step = step;
    return order;
  }

  // The loop that steps less in src than the innermost does, and less than all others; the one
  // around the innermost where there is none.
  int FindPlanes() const {
    int planes = std::max(inner_ - 1, 0);
    int64_t least = src_step_;
    for (int i = 0; i < inner_; ++i) {
      const int64_t step = std::abs(loops_.src_strides[i]);
      if (step < least) {
        least = step;
        planes = i;
      }
    }
    return planes;
  }

  CastOrder ByTwoLoops(CastWay way, int outer) const {
    CastOrder order{.way = way, .outer = outer, .box = Ones()};
    order.box[outer] = loops_.counts[outer];
    order.box[inner_] = loops_.counts[inner_];
    if (std::abs(loops_.src_strides[outer]) < src_step_) {
      // What the next row reads as well is still in the cache.
      const int64_t step_bytes = src_step_ * src_.itemsize();
      const int64_t turns = step_bytes <= kWidestPixel ? kPixelBytes / step_bytes : kNearLines;
      order.box[inner_] = std::min(order.box[inner_], turns);
    }
    return order;
  }

  CastDims Ones() const { return CastDims(loops_.rank(), 1); }

  // The box that a tile takes: as much of the dimensions as is near in memory, on both sides.
  CastDims ChooseBox(int64_t elements) const {
    CastDims box = Ones();
    auto grow = [&](int dim, int64_t limit) {
      box[dim] = std::min(loops_.counts[dim], std::max<int64_t>(limit, 1));
    };
    int src_inner = inner_;
    for (int i = inner_ - 1; i >= 0; --i) {
      const int64_t stride = std::abs(loops_.src_strides[i]);
      const int64_t least = std::abs(loops_.src_strides[src_inner]);
      if (stride != 0 && (stride < least || least == 0)) src_inner = i;
    }
    if (src_inner != inner_) {
      int64_t side = 1;
      while (side * side < elements) side *= 2;
      grow(inner_, side);
      grow(src_inner, elements / box[inner_]);
      grow(inner_, elements / box[src_inner]);
    }
    for (int i = inner_; i >= 0; --i) {
      if (box[i] == 1) grow(i, elements / Product(box));
      if (box[i] < loops_.counts[i] && src_inner == inner_) break;
    }
    return box;
  }

  const CastLoops& loops_;
  const CastPath& path_;
  const DType src_, dst_;
  const int inner_;         // the innermost loop,
  const int64_t src_step_;  // how far it steps in src, either way,
  const int64_t dst_step_;  // and in dst
};

}  // namespace

CastDims CastOrder::Grain() const {
  if (way == CastWay::kTiles) return box;
  CastDims grain(box.size(), 1);
  grain.back() = kRowGrain;
  return grain;
}

CastOrder ChooseCastOrder(const CastLoops& loops, const CastPath& path, DType src, DType dst) {
  return Chooser(loops, path, src, dst).Choose();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
