#include "dovetail/core/internal/views/views.h"

#include <algorithm>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/layout_builder.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using Dims = absl::InlinedVector<int64_t, Layout::kInlineRank>;

// The shape and strides of a view under construction.
struct Builder {
  Dims shape;
  Dims strides;
  void Add(int64_t size, int64_t stride) {
    shape.push_back(size);
    strides.push_back(stride);
  }
  absl::Status Finish(Layout* layout) const {
    return internal_layout::Assign(layout, shape.size(), shape.data(), strides.data());
  }
};

}  // namespace

SliceRange ResolveSlice(const SliceSpec& slice, int64_t size) {
  const bool forward = slice.step > 0;
  const int64_t low = forward ? 0 : -1;
  const int64_t high = forward ? size : size - 1;
  auto clamp = [&](std::optional<int64_t> bound, int64_t otherwise) {
    if (!bound.has_value()) return otherwise;
    const int64_t from_front = *bound < 0 ? *bound + size : *bound;
    return std::clamp(from_front, low, high);
  };
  const int64_t start = clamp(slice.start, forward ? low : high);
  const int64_t stop = clamp(slice.stop, forward ? high : low);
  if (forward ? start >= stop : start <= stop) return {.start = start};
  if (slice.step == 1) return {start, stop - start};
  // The most negative int64 has no positive counterpart, so the magnitude is unsigned.
  const uint64_t distance = static_cast<uint64_t>(forward ? stop - start : start - stop);
  const auto step = static_cast<uint64_t>(slice.step);
  const uint64_t magnitude = forward ? step : -step;
  return {start, static_cast<int64_t>((distance - 1) / magnitude + 1)};
}

absl::Status CheckStep(const SliceSpec& slice) {
  if (slice.step != 0) return absl::OkStatus();
  return absl::InvalidArgumentError("The step of a slice can't be 0.");
}

absl::Status NormalizeDim(int64_t dim, int rank, int* normalized) {
  if (dim < -rank || dim >= rank) {
    return absl::OutOfRangeError(absl::StrCat(
        "Dimension ", dim, " is out of range for a tensor with ", rank, " dimensions."));
  }
  *normalized = static_cast<int>(dim < 0 ? dim + rank : dim);
  return absl::OkStatus();
}

absl::Status Index(const Layout& layout, absl::Span<const IndexItem> items, LayoutView* view) {
  int taken = 0;
  int ellipses = 0;
  for (const IndexItem& item : items) {
    ellipses += item.kind() == IndexItem::Kind::kEllipsis;
    taken += item.kind() == IndexItem::Kind::kAt || item.kind() == IndexItem::Kind::kRange;
  }
  if (ellipses > 1) return absl::InvalidArgumentError("An index has at most one ellipsis (...).");
  if (taken > layout.rank()) {
    return absl::OutOfRangeError(absl::StrCat("Too many indices: ", taken, " for a tensor with ",
                                              layout.rank(), " dimensions."));
  }
  Builder out;
  uint64_t offset = 0;  // wraps around only if there are no elements
  int dim = 0;
  auto keep = [&](int count) {
    for (; count > 0; --count, ++dim) out.Add(layout.shape(dim), layout.stride(dim));
  };
  for (const IndexItem& item : items) {
    switch (item.kind()) {
      case IndexItem::Kind::kAt: {
        const int64_t size = layout.shape(dim);
        const int64_t i = item.index();
        if (i < -size || i >= size) {
          return absl::OutOfRangeError(absl::StrCat("Index ", i, " is out of range for dimension ",
                                                    dim, " of size ", size, "."));
        }
        offset += WrappingMultiply(i < 0 ? i + size : i, layout.stride(dim));
        ++dim;
        break;
      }
      case IndexItem::Kind::kRange: {
        if (absl::Status status = CheckStep(item.slice()); !status.ok()) return status;
        const auto [start, count] = ResolveSlice(item.slice(), layout.shape(dim));
        if (count > 0) offset += WrappingMultiply(start, layout.stride(dim));
        out.Add(count, WrappingMultiply(layout.stride(dim), item.slice().step));
        ++dim;
        break;
      }
      case IndexItem::Kind::kEllipsis:
        keep(layout.rank() - taken);
        break;
      case IndexItem::Kind::kNewAxis:
        out.Add(1,
                dim < layout.rank() ? WrappingMultiply(layout.shape(dim), layout.stride(dim)) : 1);
        break;
    }
  }
  if (ellipses == 0) keep(layout.rank() - taken);
  absl::Status status = out.Finish(&view->layout);
  view->offset = layout.num_elements() == 0 ? 0 : static_cast<int64_t>(offset);
  return status;
}

absl::Status Permute(const Layout& layout, absl::Span<const int64_t> order, LayoutView* view) {
  const int rank = layout.rank();
  uint64_t seen = 0;
  static_assert(Layout::kMaxRank <= 64);
  Builder out;
  for (int64_t entry : order) {
    int dim;
    if (absl::Status s = NormalizeDim(entry, rank, &dim); !s.ok()) return s;
    seen |= uint64_t{1} << dim;
    out.Add(layout.shape(dim), layout.stride(dim));
  }
  const uint64_t all =
      rank == 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << rank) - 1;
  if (static_cast<int>(order.size()) != rank || seen != all) {
    return absl::InvalidArgumentError(absl::StrCat("The order ", ShapeToString(order),
                                                   " does not name each of the ", rank,
                                                   " dimensions once."));
  }
  view->offset = 0;
  return out.Finish(&view->layout);
}

absl::Status BroadcastTo(const Layout& layout, absl::Span<const int64_t> shape, LayoutView* view) {
  const int64_t added = static_cast<int64_t>(shape.size()) - layout.rank();
  Builder out;
  bool fits = added >= 0;
  for (int64_t i = 0; fits && i < static_cast<int64_t>(shape.size()); ++i) {
    const int64_t dim = i - added;
    if (dim >= 0 && layout.shape(dim) == shape[i]) {
      out.Add(shape[i], layout.stride(dim));
    } else {
      fits = dim < 0 || layout.shape(dim) == 1;
      out.Add(shape[i], 0);
    }
  }
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat("The shape ", ShapeToString(layout.shape()),
                                                   " does not broadcast to ", ShapeToString(shape),
                                                   "."));
  }
  view->offset = 0;
  return out.Finish(&view->layout);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
