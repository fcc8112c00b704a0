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

// kLongCastRow for elements of 8 bytes on one side, and for rows with gaps between: tiles take
// longer there.
constexpr int64_t kLongWideRow = 20;
// Up to this number, elements are cast one by one in any layout.
constexpr int64_t kFewElements = 512;
// The least elements of an innermost loop that are cast one by one, if there are more in all.
constexpr int64_t kLeastOfLine = 16;
// Planes are cast element by element if a row of dst has kLeastOfPlane elements at least and a
// pixel of src kWidestPixel bytes at most; kPixelBytes of src at a time.
constexpr int64_t kLeastOfPlane = 256;
constexpr int64_t kWidestPixel = 48;
constexpr int64_t kPixelBytes = 2 << 20;
// Lines of src that stay in the L1 cache.
constexpr int64_t kNearLines = 256;
// Rows are divided among threads at multiples of this: whole cache lines of any type.
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

  // Whether src has a stride of 0: tiles cast a repeated element only once.
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

  // Whether src has small pixels and dst a long row for each of their elements, and tiles would be
  // too wide or write to too many places in memory.
  bool HasPlanes() const {
    return dst_step_ == 1 && loops_.counts[inner_] >= kLeastOfPlane &&
           src_step_ * src_.itemsize() <= kWidestPixel &&
           (IsWide() || path_.IsPastCache(Product(loops_.counts)));
  }

  // Whether it transposes, with elements of src that are wide or have gaps between, so that tiles
  // would be gathered element by element from memory.
  bool GoesAcross() const {
    const int64_t step = std::abs(loops_.src_strides[FindPlanes()]);
    return step < src_step_ && (step > 1 || IsWide()) &&
           !cpu::Collide(kNearLines, src_step_ * src_.itemsize()) &&
           Product(loops_.counts) * (src_.itemsize() + dst_.itemsize()) >= 2 * StreamFrom().near;
  }

  CastOrder ByElements(StridedStep step) const {
    const int planes = FindPlanes(), next = std::max(inner_ - 1, 0);
    int64_t lines = 1;  // lines of src that are read before the next iteration of `planes`
    for (int i = planes + 1; i <= inner_; ++i) lines *= loops_.counts[i];
    CastOrder order = ByTwoLoops(CastWay::kElements, lines <= kNearLines ? next : planes);
    order.step = step;
    return order;
  }

  // The loop with the smallest step in src, if it is smaller than that of the innermost loop; else
  // the loop around the innermost.
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
      // The next row finds the lines that it shares with this one in the cache.
      const int64_t step_bytes = src_step_ * src_.itemsize();
      const int64_t most = step_bytes <= kWidestPixel ? kPixelBytes / step_bytes : kNearLines;
      order.box[inner_] = std::min(order.box[inner_], most);
    }
    return order;
  }

  CastDims Ones() const { return CastDims(loops_.rank(), 1); }

  // The box of a tile: the dimensions that are nearest in memory, in src and in dst.
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
  const int inner_;         // the innermost loop
  const int64_t src_step_;  // its step in src, without the sign
  const int64_t dst_step_;  // its step in dst
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
