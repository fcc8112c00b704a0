#include "dovetail/core/layout.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/core/internal/layout_builder.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_layout {

void LayoutRep::FreeHeap() {
  delete[] heap_;
  rank_ = 0;  // the layout can be destroyed even if the next step fails
  num_elements_ = 1;
}
void LayoutRep::AllocateHeap(int rank) { heap_ = new int64_t[2 * rank]; }

namespace {

[[gnu::cold, gnu::noinline]] absl::Status RankError(int64_t rank) {
  return absl::InvalidArgumentError(
      absl::StrCat("A tensor has 0 to ", Layout::kMaxRank, " dimensions, not ", rank, "."));
}

absl::Status NegativeSizeError(absl::Span<const int64_t> shape) {
  return absl::InvalidArgumentError(
      absl::StrCat("The shape ", ShapeToString(shape), " has a negative size."));
}

absl::Status TooLargeError(absl::Span<const int64_t> shape) {
  return absl::InvalidArgumentError(absl::StrCat(
      "The shape ", ShapeToString(shape), " has more elements than a 64-bit integer counts."));
}

absl::Status ReachError(absl::Span<const int64_t> shape, absl::Span<const int64_t> strides) {
  return absl::InvalidArgumentError(absl::StrCat("The strides ", ShapeToString(strides),
                                                 " with the shape ", ShapeToString(shape),
                                                 " reach offsets beyond a 64-bit integer."));
}

// The reason why TryAssign failed.
[[gnu::cold, gnu::noinline]] absl::Status Explain(int64_t rank, const int64_t* shape,
                                                  const int64_t* strides) {
  if (rank < 0 || rank > Layout::kMaxRank) return RankError(rank);
  const absl::Span<const int64_t> sizes(shape, rank);
  int64_t product = 1;
  bool too_large = false;
  for (int64_t size : sizes) {
    if (size < 0) return NegativeSizeError(sizes);
    too_large |= __builtin_mul_overflow(product, size == 0 ? 1 : size, &product);
  }
  if (too_large) return TooLargeError(sizes);
  return ReachError(sizes, {strides, static_cast<size_t>(rank)});
}

}  // namespace

absl::Status Assign(Layout* layout, int64_t rank, const int64_t* shape, const int64_t* strides) {
  Extent extent;
  return TryAssign(layout, rank, shape, strides, &extent) ? absl::OkStatus()
                                                          : Explain(rank, shape, strides);
}

int64_t Narrow(Layout* layout, int dim, int64_t start, int64_t count, int64_t step) {
  LayoutRep& rep = LayoutAccess::Rep(layout);
  int64_t* const sizes = rep.dims();
  int64_t& stride = sizes[rep.rank() + dim];
  const bool is_empty = rep.num_elements() == 0 || count == 0;
  const int64_t offset = is_empty ? 0 : WrappingMultiply(start, stride);
  sizes[dim] = count;
  stride = WrappingMultiply(stride, step);
  int64_t num_elements = 1;
  for (int i = 0; i < rep.rank(); ++i) num_elements = WrappingMultiply(num_elements, sizes[i]);
  rep.set_num_elements(num_elements);
  return offset;
}

}  // namespace internal_layout

absl::StatusOr<Layout> Layout::Contiguous(absl::Span<const int64_t> shape) {
  absl::StatusOr<Layout> layout{Layout()};
  absl::Status status = internal_layout::Assign(&*layout, shape.size(), shape.data(), nullptr);
  if (!status.ok()) layout = std::move(status);
  return layout;
}

absl::StatusOr<Layout> Layout::Strided(absl::Span<const int64_t> shape,
                                       absl::Span<const int64_t> strides) {
  if (shape.size() != strides.size()) {
    return absl::InvalidArgumentError(absl::StrCat("The shape ", ShapeToString(shape),
                                                   " and the strides ", ShapeToString(strides),
                                                   " differ in length."));
  }
  absl::StatusOr<Layout> layout{Layout()};
  absl::Status status =
      internal_layout::Assign(&*layout, shape.size(), shape.data(), strides.data());
  if (!status.ok()) layout = std::move(status);
  return layout;
}

bool Layout::is_contiguous() const {
  if (num_elements() == 0) return true;
  int64_t step = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape(i) == 1) continue;
    if (stride(i) != step) return false;
    step *= shape(i);
  }
  return true;
}

Extent Layout::extent() const {
  Extent e;
  if (num_elements() == 0) return e;
  for (int i = 0; i < rank(); ++i) {
    (stride(i) < 0 ? e.lowest : e.highest) += (shape(i) - 1) * stride(i);
  }
  return e;
}

std::string Layout::ToString() const {
  return absl::StrCat("shape ", ShapeToString(shape()), ", strides ", ShapeToString(strides()));
}

std::string ShapeToString(absl::Span<const int64_t> shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
