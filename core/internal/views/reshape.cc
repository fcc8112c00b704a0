// Reshape of views.h: finds strides that give the same elements in another shape, if there are any.

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/views/views.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using Dims = absl::InlinedVector<int64_t, Layout::kInlineRank>;

absl::Status CountError(const Layout& layout, absl::Span<const int64_t> shape) {
  return absl::InvalidArgumentError(absl::StrCat(
      "A tensor of shape ", ShapeToString(layout.shape()), ", with ", layout.num_elements(),
      " elements, can't have the shape ", ShapeToString(shape), "."));
}

// Replaces a -1 by the size that fits the number of elements.
absl::Status InferSize(const Layout& layout, absl::Span<const int64_t> shape, Dims* sizes) {
  sizes->assign(shape.begin(), shape.end());
  int64_t known = 1;
  int unknown = -1;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (shape[i] == -1 && unknown < 0) {
      unknown = i;
    } else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) {
      return CountError(layout, shape);
    }
  }
  if (unknown >= 0) {
    if (known == 0 || layout.num_elements() % known != 0) return CountError(layout, shape);
    (*sizes)[unknown] = layout.num_elements() / known;
    return absl::OkStatus();
  }
  return known == layout.num_elements() ? absl::OkStatus() : CountError(layout, shape);
}

// Merges old dimensions that continue each other into groups and splits the groups into new
// dimensions, last first. Returns whether every group splits evenly.
bool Strides(const Layout& layout, const Dims& sizes, Dims* strides) {
  int old = layout.rank() - 1;
  int64_t group_left = 1;  // elements of the current group not yet covered by new dimensions
  int64_t stride = 1;      // of the next new dimension
  for (int i = static_cast<int>(sizes.size()) - 1; i >= 0; --i) {
    if (sizes[i] == 1) {
      (*strides)[i] = stride;
      continue;
    }
    if (group_left == 1) {
      while (old >= 0 && layout.shape(old) == 1) --old;
      stride = layout.stride(old);
      group_left = layout.shape(old);
      // Merge the dimensions that continue this one.
      int64_t reach = WrappingMultiply(stride, group_left);
      for (--old; old >= 0; --old) {
        if (layout.shape(old) == 1) continue;
        if (layout.stride(old) != reach) break;
        group_left *= layout.shape(old);
        reach = WrappingMultiply(reach, layout.shape(old));
      }
    }
    if (group_left % sizes[i] != 0) return false;
    (*strides)[i] = stride;
    stride = WrappingMultiply(stride, sizes[i]);
    group_left /= sizes[i];
  }
  return true;
}

}  // namespace

absl::Status Reshape(const Layout& layout, absl::Span<const int64_t> shape, LayoutView* view) {
  Dims sizes;
  if (absl::Status s = InferSize(layout, shape, &sizes); !s.ok()) return s;
  view->offset = 0;
  if (layout.is_contiguous())
    return internal_layout::Assign(&view->layout, sizes.size(), sizes.data(), nullptr);
  Dims strides(sizes.size());
  if (!Strides(layout, sizes, &strides)) {
    return absl::FailedPreconditionError(
        absl::StrCat("No view of ", layout.ToString(), " has the shape ", ShapeToString(shape),
                     ": the strides do not allow it. Copy it first (contiguous())."));
  }
  return internal_layout::Assign(&view->layout, sizes.size(), sizes.data(), strides.data());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
