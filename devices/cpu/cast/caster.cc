#include "dovetail/devices/cpu/cast/caster.h"

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/strided_copy.h"
#include "dovetail/devices/cpu/large_work.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

TensorView Tile(const void* data, DType dtype, absl::Span<const int64_t> extents,
                absl::Span<const int64_t> strides) {
  return {.data = const_cast<void*>(data),
          .dtype = dtype,
          .packing = Packing::kPadded,
          .shape = extents,
          .strides = strides};
}

}  // namespace

Caster::Caster(const CastPath& path, const TensorView& dst, const TensorView& src)
    : path_(path),
      dst_(dst),
      src_(src),
      loops_(dst, src),
      order_(ChooseCastOrder(loops_, path, src.dtype, dst.dtype)) {}

bool Caster::Run() const {
  const int64_t item_bytes = dst_.dtype.itemsize() + src_.dtype.itemsize();
  const cpu::LargeWork work(Product(loops_.counts) * item_bytes / 2);
  if (work.most_parts() == 1) {
    RunPart(loops_);
    return true;
  }
  const DividedCast parts(loops_, order_.Grain(), work.most_parts());
  return work.Run(parts.count(), [&](int64_t i) { RunPart(parts.Get(i)); });
}

void Caster::RunPart(const CastLoops& loops) const {
  switch (order_.way) {
    case CastWay::kRows:
      return RunRows(loops);
    case CastWay::kElements:
      return RunElements(loops);
    case CastWay::kTiles:
      return RunTiles(loops);
  }
}

void Caster::RunRows(const CastLoops& loops) const {
  const int inner = loops.rank() - 1, outer = order_.outer;
  // Decided for the whole row, however it is divided among threads.
  const bool past_cache = path_.IsPastCache(order_.box.back());
  loops.ForEachTile(order_.box, [&](int64_t dst, int64_t src, absl::Span<const int64_t> extents) {
    const int64_t rows = outer < inner ? extents[outer] : 1;
    for (int64_t row = 0; row < rows; ++row) {
      path_.Run(SrcAt(src + row * loops.src_strides[outer]),
                DstAt(dst + row * loops.dst_strides[outer]), extents[inner], past_cache);
    }
  });
}

void Caster::RunElements(const CastLoops& loops) const {
  const int inner = loops.rank() - 1, outer = order_.outer;
  const int64_t src_size = src_.dtype.itemsize(), dst_size = dst_.dtype.itemsize();
  loops.ForEachTile(order_.box, [&](int64_t dst, int64_t src, absl::Span<const int64_t> extents) {
    order_.step(SrcAt(src), DstAt(dst),
                {.rows = outer < inner ? extents[outer] : 1,
                 .src_row = loops.src_strides[outer] * src_size,
                 .dst_row = loops.dst_strides[outer] * dst_size,
                 .count = extents[inner],
                 .src_step = loops.src_strides[inner] * src_size,
                 .dst_step = loops.dst_strides[inner] * dst_size});
  });
}

void Caster::RunTiles(const CastLoops& loops) const {
  loops.ForEachTile(order_.box,
                    [this](int64_t dst, int64_t src, absl::Span<const int64_t> extents) {
                      RunTile(dst, src, extents);
                    });
}

void Caster::RunTile(int64_t dst, int64_t src, absl::Span<const int64_t> extents) const {
  alignas(64) char gathered[kCastTileBytes];
  alignas(64) char cast[kCastTileBytes];
  // An element that src repeats is cast once.
  CastDims once(extents);
  for (int i = 0; i < loops_.rank(); ++i) {
    if (loops_.src_strides[i] == 0) once[i] = 1;
  }
  const bool repeats = once != extents;
  CastDims dense = DenseStrides(once);
  const char* from = SrcAt(src);
  // The results of StridedCopy are ignored: a tile is too small to be stopped.
  if (!CastLoops::IsDense(once, loops_.src_strides)) {
    StridedCopy(Tile(gathered, src_.dtype, once, dense),
                Tile(from, src_.dtype, once, loops_.src_strides));
    from = gathered;
  }
  if (!repeats && CastLoops::IsDense(extents, loops_.dst_strides)) {
    return path_.Run(from, DstAt(dst), Product(extents));
  }
  if (!repeats && loops_.dst_strides.back() == 1 && extents.back() >= kLongCastRow) {
    return CastRows(from, dst, extents);
  }
  path_.Run(from, cast, Product(once));
  for (int i = 0; i < loops_.rank(); ++i) {
    if (once[i] != extents[i]) dense[i] = 0;
  }
  StridedCopy(Tile(DstAt(dst), dst_.dtype, extents, loops_.dst_strides),
              Tile(cast, dst_.dtype, extents, dense));
}

// Casts a dense tile at `from` to the rows of dst.
void Caster::CastRows(const char* from, int64_t dst, absl::Span<const int64_t> extents) const {
  const int64_t row = extents.back();
  const int rows_rank = static_cast<int>(extents.size()) - 1;
  cpu::Loop rows[internal_loop_nest::kMaxLoops];  // inner first
  int64_t row_offset = row;
  for (int i = 0; i < rows_rank; ++i) {
    const int dim = rows_rank - 1 - i;
    rows[i] = {extents[dim], loops_.dst_strides[dim], row_offset};
    row_offset *= extents[dim];
  }
  cpu::Odometer at(rows, rows_rank);
  do {
    path_.Run(from + at.src * src_.dtype.itemsize(), DstAt(dst + at.dst), row,
              /*past_cache=*/false);
  } while (at.Next());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
