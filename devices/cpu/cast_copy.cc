#include "dovetail/devices/cpu/cast_copy.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dovetail/devices/cpu/cast/native.h"
#include "dovetail/devices/cpu/cast/path.h"
#include "dovetail/devices/cpu/cast_loops.h"
#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/large_work.h"
#include "dovetail/devices/cpu/strided_copy.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

// Of the elements of a tile, in either type.
constexpr int64_t kTileBytes = 16 * 1024;
// As many elements in a row are worth a call of their own.
constexpr int64_t kLongRow = 64;
// No more are cast one by one at once, whatever their layout; and of more, lines of at least so
// many.
constexpr int64_t kFewElements = 512;
constexpr int64_t kLeastOfLine = 16;
// Planes that are taken apart element by element: of rows so long at least, from so many bytes
// together at most, as many at a time as take so many bytes in src.
constexpr int64_t kLeastOfPlane = 256;
constexpr int64_t kWidestPixel = 48;
constexpr int64_t kPixelBytes = 2 << 20;
// Of a row that is divided among threads: whole lines of any type.
constexpr int64_t kRowGrain = 4096;

// Strides of a dense box.
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

// The box that a tile takes: as much of the dimensions as is near in memory, on both sides.
CastDims ChooseBox(const CastLoops& loops, int64_t elements) {
  CastDims box(loops.rank(), 1);
  auto grow = [&](int dim, int64_t limit) {
    box[dim] = std::min(loops.counts[dim], std::max<int64_t>(limit, 1));
  };
  const int inner = loops.rank() - 1;
  int src_inner = inner;
  for (int i = inner - 1; i >= 0; --i) {
    const int64_t stride = std::abs(loops.src_strides[i]);
    if (stride != 0 &&
        (stride < std::abs(loops.src_strides[src_inner]) || loops.src_strides[src_inner] == 0)) {
      src_inner = i;
    }
  }
  if (src_inner != inner) {
    int64_t side = 1;
    while (side * side < elements) side *= 2;
    grow(inner, side);
    grow(src_inner, elements / box[inner]);
    grow(inner, elements / box[src_inner]);
  }
  for (int i = inner; i >= 0; --i) {
    if (box[i] == 1) grow(i, elements / Product(box));
    if (box[i] < loops.counts[i] && src_inner == inner) break;
  }
  return box;
}

// One cast of one pair of types over views whose elements have bytes of their own.
class Caster {
 public:
  Caster(const CastPath& path, const TensorView& dst, const TensorView& src)
      : path_(path), dst_(dst), src_(src), loops_(dst, src) {}

  // False when it was stopped before its end.
  [[nodiscard]] bool Run() const {
    const int64_t item_bytes = dst_.dtype.itemsize() + src_.dtype.itemsize();
    const cpu::LargeWork work(Product(loops_.counts) * item_bytes / 2);
    if (HasLongRows()) return RunRows(work);
    if (StridedStep step = FindElementStep()) return RunElements(step, work);
    return RunTiles(work);
  }

 private:
  bool HasLongRows() const {
    const int inner = loops_.rank() - 1;
    return loops_.dst_strides[inner] == 1 && loops_.src_strides[inner] == 1 &&
           (loops_.counts[inner] >= kLongRow || inner == 0);
  }

  // The step for elements each by itself, where to bring them together, cast and spread them takes
  // longer; nullptr elsewhere.
  StridedStep FindElementStep() const {
    const bool pays =
        Product(loops_.counts) <= kFewElements || HasLinesWithGaps() || HasPlanes();
    return pays ? NativeStridedStep(src_.dtype, dst_.dtype) : nullptr;
  }

  // Whether what is near in src is near in dst, and one of them is a matter of single elements:
  // with gaps on both sides, or with such of 8 bytes, of which a vector takes too few.
  bool HasLinesWithGaps() const {
    const int inner = loops_.rank() - 1;
    const int64_t src_step = std::abs(loops_.src_strides[inner]);
    for (int64_t stride : loops_.src_strides) {
      if (stride == 0 || std::abs(stride) < src_step) return false;
    }
    const int64_t dst_step = loops_.dst_strides[inner], dst_size = dst_.dtype.itemsize();
    const bool is_gathered = src_step == 1 || (!IsWide() && dst_step == 1);
    const bool is_spread =
        dst_step == 1 || (!IsWide() && dst_step * dst_size <= cpu::kWidestSpread);
    return loops_.counts[inner] >= kLeastOfLine && !(is_gathered && is_spread);
  }

  bool IsWide() const { return std::max(src_.dtype.itemsize(), dst_.dtype.itemsize()) >= 8; }

  // The loop that steps less in src than the innermost does, and less than all others; the one around
  // the innermost where there is none.
  int FindPlanes() const {
    const int inner = loops_.rank() - 1;
    int planes = std::max(inner - 1, 0);
    int64_t least = std::abs(loops_.src_strides[inner]);
    for (int i = 0; i < inner; ++i) {
      const int64_t step = std::abs(loops_.src_strides[i]);
      if (step < least) {
        least = step;
        planes = i;
      }
    }
    return planes;
  }

  // Whether dst has long rows, of which each takes one of the few elements that lie together in src,
  // and tiles would be too wide or would write to too many places in memory.
  bool HasPlanes() const {
    const int inner = loops_.rank() - 1;
    const int64_t step = std::abs(loops_.src_strides[inner]) * src_.dtype.itemsize();
    for (int64_t stride : loops_.src_strides) {
      if (stride == 0) return false;
    }
    return loops_.dst_strides[inner] == 1 && loops_.counts[inner] >= kLeastOfPlane &&
           step <= kWidestPixel && (IsWide() || path_.IsPastCache(Product(loops_.counts)));
  }

  // Calls part(loops) for all loops, or for parts of them.
  template <typename Part>
  bool Divide(const cpu::LargeWork& work, absl::Span<const int64_t> grain, Part part) const {
    if (work.most_parts() == 1) {
      part(loops_);
      return true;
    }
    const CastParts parts(loops_, grain, work.most_parts());
    return work.Run(parts.count(), [&](int64_t i) { part(parts.Get(i)); });
  }

  char* DstAt(int64_t offset) const {
    return static_cast<char*>(dst_.data) + offset * dst_.dtype.itemsize();
  }
  char* SrcAt(int64_t offset) const {
    return static_cast<char*>(src_.data) + offset * src_.dtype.itemsize();
  }

  bool RunRows(const cpu::LargeWork& work) const {
    // The innermost loop and the one around it.
    CastDims box(loops_.rank(), 1), grain(loops_.rank(), 1);
    const int inner = loops_.rank() - 1, outer = std::max(inner - 1, 0);
    box[inner] = loops_.counts[inner];
    box[outer] = loops_.counts[outer];
    grain[inner] = kRowGrain;
    // What the whole would do, however it is divided.
    const bool past_cache = path_.IsPastCache(box.back());
    return Divide(work, grain, [&](const CastLoops& loops) {
      loops.ForEachTile(box, [&](int64_t dst, int64_t src, absl::Span<const int64_t> extents) {
        const int64_t rows = outer < inner ? extents[outer] : 1;
        for (int64_t row = 0; row < rows; ++row) {
          path_.Run(SrcAt(src + row * loops.src_strides[outer]),
                    DstAt(dst + row * loops.dst_strides[outer]), extents[inner], past_cache);
        }
      });
    });
  }

  bool RunElements(StridedStep step, const cpu::LargeWork& work) const {
    const int inner = loops_.rank() - 1, outer = FindPlanes();
    const int64_t src_size = src_.dtype.itemsize(), dst_size = dst_.dtype.itemsize();
    CastDims box(loops_.rank(), 1), grain(loops_.rank(), 1);
    box[outer] = loops_.counts[outer];
    box[inner] = loops_.counts[inner];
    grain[inner] = kRowGrain;
    const int64_t step_bytes = std::abs(loops_.src_strides[inner]) * src_size;
    if (std::abs(loops_.src_strides[outer]) < std::abs(loops_.src_strides[inner])) {
      // What the next row reads as well is still in the cache.
      box[inner] = std::min(box[inner], std::max(kPixelBytes / step_bytes, kLeastOfLine));
    }
    return Divide(work, grain, [&](const CastLoops& loops) {
      loops.ForEachTile(box, [&](int64_t dst, int64_t src, absl::Span<const int64_t> extents) {
        step(SrcAt(src), DstAt(dst),
             {.rows = outer < inner ? extents[outer] : 1,
              .src_row = loops.src_strides[outer] * src_size,
              .dst_row = loops.dst_strides[outer] * dst_size,
              .count = extents[inner],
              .src_step = loops.src_strides[inner] * src_size,
              .dst_step = loops.dst_strides[inner] * dst_size});
      });
    });
  }

  bool RunTiles(const cpu::LargeWork& work) const {
    const int64_t itemsize = std::max(dst_.dtype.itemsize(), src_.dtype.itemsize());
    const CastDims box = ChooseBox(loops_, kTileBytes / itemsize);
    return Divide(work, box, [&](const CastLoops& loops) { RunTiles(loops, box); });
  }

  void RunTiles(const CastLoops& loops, absl::Span<const int64_t> box) const {
    alignas(64) char gathered[kTileBytes];
    alignas(64) char cast[kTileBytes];
    loops.ForEachTile(box, [&](int64_t dst, int64_t src, absl::Span<const int64_t> extents) {
      // What src repeats is cast once.
      CastDims once(extents.begin(), extents.end());
      for (int i = 0; i < loops.rank(); ++i) {
        if (loops.src_strides[i] == 0) once[i] = 1;
      }
      CastDims dense = DenseStrides(once);
      const void* from = SrcAt(src);
      void* to = DstAt(dst);
      const bool dst_is_dense = once == extents && CastLoops::IsDense(extents, loops.dst_strides);
      // Tiles are too small to be stopped.
      if (!CastLoops::IsDense(once, loops.src_strides)) {
        StridedCopy(Tile(gathered, src_.dtype, once, dense),
                    Tile(from, src_.dtype, once, loops.src_strides));
        from = gathered;
      }
      if (!dst_is_dense && once == extents && HasRows(loops, extents)) {
        return CastRows(static_cast<const char*>(from), dst, extents);
      }
      path_.Run(from, dst_is_dense ? to : cast, Product(once));
      if (dst_is_dense) return;
      for (int i = 0; i < loops.rank(); ++i) {
        if (once[i] != extents[i]) dense[i] = 0;
      }
      StridedCopy(Tile(to, dst_.dtype, extents, loops.dst_strides),
                  Tile(cast, dst_.dtype, extents, dense));
    });
  }

  // Whether the tile's rows of dst are worth a call of their own.
  static bool HasRows(const CastLoops& loops, absl::Span<const int64_t> extents) {
    return loops.dst_strides.back() == 1 && extents.back() >= kLongRow;
  }

  // A tile without gaps, row by row.
  void CastRows(const char* from, int64_t dst, absl::Span<const int64_t> extents) const {
    const int64_t row = extents.back();
    CastDims at(extents.size(), 0);
    while (true) {
      path_.Run(from, DstAt(dst), row, /*past_cache=*/false);
      from += row * src_.dtype.itemsize();
      int i = static_cast<int>(extents.size()) - 2;
      for (; i >= 0; --i) {
        dst += loops_.dst_strides[i];
        if (++at[i] < extents[i]) break;
        dst -= extents[i] * loops_.dst_strides[i];
        at[i] = 0;
      }
      if (i < 0) return;
    }
  }

  static TensorView Tile(const void* data, DType dtype, absl::Span<const int64_t> extents,
                         absl::Span<const int64_t> strides) {
    return {.data = const_cast<void*>(data),
            .dtype = dtype,
            .packing = Packing::kPadded,
            .shape = extents,
            .strides = strides};
  }

  const CastPath& path_;
  const TensorView& dst_;
  const TensorView& src_;
  const CastLoops loops_;
};

// Memory for a dense copy of a view whose elements share bytes, each of which then has its own.
class Unpacked {
 public:
  explicit Unpacked(const TensorView& packed)
      : strides_(DenseStrides(packed.shape)),
        data_(new (std::nothrow) char[Product(packed.shape)]),
        view_(packed) {
    view_.data = data_.get();
    view_.packing = Packing::kPadded;
    view_.strides = strides_;
  }
  bool is_there() const { return data_ != nullptr; }
  const TensorView& view() const { return view_; }

 private:
  CastDims strides_;
  std::unique_ptr<char[]> data_;
  TensorView view_;
};

bool SharesBytes(const TensorView& view) { return StepBits(view.dtype, view.packing) % 8 != 0; }

absl::Status RunCast(const CastPath& path, const TensorView& dst, const TensorView& src) {
  if (SharesBytes(src)) {
    const Unpacked own(src);
    if (!own.is_there()) return absl::ResourceExhaustedError("No memory to unpack the elements.");
    if (!StridedCopy(own.view(), src)) return cpu::LargeWork::Stopped();
    return RunCast(path, dst, own.view());
  }
  if (SharesBytes(dst)) {
    const Unpacked own(dst);
    if (!own.is_there()) return absl::ResourceExhaustedError("No memory to unpack the elements.");
    const bool done = Caster(path, own.view(), src).Run() && StridedCopy(dst, own.view());
    return done ? absl::OkStatus() : cpu::LargeWork::Stopped();
  }
  return Caster(path, dst, src).Run() ? absl::OkStatus() : cpu::LargeWork::Stopped();
}

// A type with lanes as one with another, innermost dimension.
class Lanes {
 public:
  explicit Lanes(const TensorView& view) : view_(view) {
    if (view.dtype.lanes == 1) return;
    shape_.assign(view.shape.begin(), view.shape.end());
    shape_.push_back(view.dtype.lanes);
    for (int64_t stride : view.strides) strides_.push_back(stride * view.dtype.lanes);
    strides_.push_back(1);
    view_.shape = shape_;
    view_.strides = strides_;
    view_.dtype.lanes = 1;
  }
  const TensorView& view() const { return view_; }

 private:
  CastDims shape_, strides_;
  TensorView view_;
};

// Whether lanes follow each other without gaps from one element to the next.
bool HasEvenLanes(const TensorView& view) {
  return view.dtype.lanes == 1 || StepBits(view.dtype, view.packing) == view.dtype.element_bits();
}

}  // namespace

absl::Status CastStrided(const TensorView& dst, const TensorView& src) {
  const Lanes to(dst), from(src);
  std::optional<CastPath> path;
  if (dst.dtype.lanes == src.dtype.lanes && HasEvenLanes(dst) && HasEvenLanes(src)) {
    path = CastPath::Find(from.view().dtype, to.view().dtype);
  }
  if (!path) {
    const bool loses_part =
        src.dtype.kind == TypeKind::kComplex && dst.dtype.kind != TypeKind::kComplex;
    return absl::InvalidArgumentError(
        absl::StrCat("There is no cast from ", src.dtype.ToString(), " to ", dst.dtype.ToString(),
                     loses_part ? ", which would lose the imaginary part." : "."));
  }
  for (int64_t size : dst.shape) {
    if (size == 0) return absl::OkStatus();
  }
  return RunCast(*path, to.view(), from.view());
}

}  // namespace dovetail::inline DOVETAIL_ABI
