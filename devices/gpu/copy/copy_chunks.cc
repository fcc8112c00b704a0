#include "dovetail/devices/gpu/copy/copy_chunks.h"

#include <algorithm>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

CopyChunk::CopyChunk(const TensorView& dst, const TensorView& src)
    : dst_(dst),
      src_(src),
      shape_(dst.shape.begin(), dst.shape.end()),
      dst_strides_(dst.strides.begin(), dst.strides.end()),
      src_strides_(src.strides.begin(), src.strides.end()) {
  dense_strides_.resize(shape_.size());
  int64_t step = 1;
  for (int i = static_cast<int>(shape_.size()) - 1; i >= 0; --i) {
    dense_strides_[i] = step;
    step *= shape_[i];
  }
}

TensorView CopyChunk::View(const TensorView& of, const Dims& strides) const {
  TensorView view = of;
  view.shape = shape_;
  view.strides = strides;
  return view;
}

TensorView CopyChunk::Dense(void* data, Device device, const TensorView& like) const {
  TensorView view = View(like, dense_strides_);
  view.data = data;
  view.device = device;
  view.byte_offset = 0;
  view.access = Access::kReadWrite;
  return view;
}

int64_t CopyChunk::num_elements() const {
  int64_t count = 1;
  for (int64_t size : shape_) count *= size;
  return count;
}

int64_t CopyChunk::nbytes() const {
  return std::max(BytesWithoutGaps(num_elements(), dst_.dtype, dst_.packing),
                  BytesWithoutGaps(num_elements(), src_.dtype, src_.packing));
}

bool CopyChunk::can_be_sliced() const {
  return StepBits(dst_.dtype, dst_.packing) % 8 == 0 && StepBits(src_.dtype, src_.packing) % 8 == 0;
}

int CopyChunk::OuterDimension() const {
  for (size_t i = 0; i < shape_.size(); ++i) {
    if (shape_[i] > 1) return static_cast<int>(i);
  }
  return -1;
}

CopyChunk CopyChunk::Slice(int dim, int64_t begin, int64_t size) const {
  auto at = [begin](const TensorView& view, int64_t stride) {
    const ElementPlace place = PlaceOf(begin * stride, view.dtype, view.packing);
    return static_cast<char*>(view.data) + place.byte;
  };
  TensorView dst = this->dst(), src = this->src();
  dst.data = at(dst_, dst_strides_[dim]);
  src.data = at(src_, src_strides_[dim]);
  Dims shape = shape_;
  shape[dim] = size;
  dst.shape = src.shape = shape;
  return CopyChunk(dst, src);
}

absl::Status ForEachChunk(const CopyChunk& whole, int64_t most_bytes,
                          absl::FunctionRef<absl::Status(const CopyChunk&)> take) {
  const int dim = whole.OuterDimension();
  if (dim < 0 || !whole.can_be_sliced() || whole.nbytes() <= most_bytes) return take(whole);
  const internal_loop_nest::Loop loop = whole.loop(dim);
  const int64_t size = std::max<int64_t>(most_bytes / (whole.nbytes() / loop.count), 1);
  const internal_loop_nest::DividedLoop slices = internal_loop_nest::DivideBySize(loop, size);
  for (int64_t i = 0; i < slices.count(); ++i) {
    const CopyChunk slice = whole.Slice(dim, slices.BeginOf(i), slices.SizeOf(i));
    if (absl::Status s = ForEachChunk(slice, most_bytes, take); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
