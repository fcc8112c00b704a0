#include "dovetail/core/internal/memory_order.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "absl/container/inlined_vector.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using Dims = absl::InlinedVector<int64_t, Layout::kInlineRank>;

// Whether the layout is column-major without gaps.
bool IsColumnMajor(const Layout& layout) {
  if (layout.num_elements() == 0) return true;
  int64_t step = 1;
  for (int i = 0; i < layout.rank(); ++i) {
    if (layout.shape(i) != 1 && layout.stride(i) != step) return false;
    step *= layout.shape(i);
  }
  return true;
}

// The dimensions, in the order of decreasing strides of the new tensor.
Dims OrderOf(const Layout& like, MemoryOrder order) {
  Dims dims(like.rank());
  std::iota(dims.begin(), dims.end(), 0);
  if (order == MemoryOrder::kA) {
    const bool column_major = !like.is_contiguous() && IsColumnMajor(like);
    order = column_major ? MemoryOrder::kF : MemoryOrder::kC;
  }
  if (order == MemoryOrder::kF) std::reverse(dims.begin(), dims.end());
  if (order != MemoryOrder::kK || like.is_contiguous()) return dims;
  // The strides of dimensions of size 1 mean nothing. Such dimensions come first, where they have
  // no effect.
  auto step = [&](int64_t dim) {
    const int d = static_cast<int>(dim);
    return like.shape(d) == 1 ? std::numeric_limits<int64_t>::max() : std::abs(like.stride(d));
  };
  std::sort(dims.begin(), dims.end(),
            [&](int64_t a, int64_t b) { return step(a) != step(b) ? step(a) > step(b) : a < b; });
  return dims;
}

}  // namespace

absl::StatusOr<Tensor> EmptyInOrder(const Layout& like, MemoryOrder order, DType dtype,
                                    Device device) {
  if (order == MemoryOrder::kC) return Tensor::Empty(like.shape(), dtype, device);
  const Dims dims = OrderOf(like, order);
  Dims shape(dims.size()), inverse(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    shape[i] = like.shape(static_cast<int>(dims[i]));
    inverse[dims[i]] = static_cast<int64_t>(i);
  }
  absl::StatusOr<Tensor> sorted = Tensor::Empty(shape, dtype, device);
  return sorted.ok() ? sorted->Permute(inverse) : sorted;
}

bool IsInOrder(const Layout& layout, MemoryOrder order) {
  switch (order) {
    case MemoryOrder::kC:
      return layout.is_contiguous();
    case MemoryOrder::kF:
      return IsColumnMajor(layout);
    case MemoryOrder::kA:
      return layout.is_contiguous() || IsColumnMajor(layout);
    case MemoryOrder::kK:
      break;
  }
  return true;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
