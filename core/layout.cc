#include "dovetail/core/layout.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail::inline DOVETAIL_ABI {
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

// Why TryAssign did not take them.
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

void Layout::FreeHeap() {
  delete[] heap_;
  rank_ = 0;  // whatever fails next finds a layout that can be destroyed
  num_elements_ = 1;
}
void Layout::AllocateHeap(int rank) { heap_ = new int64_t[2 * rank]; }

absl::StatusOr<Layout> Layout::Contiguous(absl::Span<const int64_t> shape) {
  absl::StatusOr<Layout> layout{Layout()};
  absl::Status status = layout->Assign(shape.size(), shape.data(), nullptr);
  if (!status.ok()) layout = std::move(status);
  return layout;
}

absl::StatusOr<Layout> Layout::Strided(absl::Span<const int64_t> shape,
                                       absl::Span<const int64_t> strides) {
  if (shape.size() != strides.size()) {
    return absl::InvalidArgumentError(absl::StrCat("The shape ", ShapeToString(shape),
                                                   " and the "
                                                   "strides ",
                                                   ShapeToString(strides), " differ in length."));
  }
  absl::StatusOr<Layout> layout{Layout()};
  absl::Status status = layout->Assign(shape.size(), shape.data(), strides.data());
  if (!status.ok()) layout = std::move(status);
  return layout;
}

absl::Status Layout::Assign(int64_t rank, const int64_t* shape, const int64_t* strides) {
  Extent extent;
  return TryAssign(rank, shape, strides, &extent) ? absl::OkStatus()
                                                  : Explain(rank, shape, strides);
}

int64_t Layout::Measure(int64_t rank, const int64_t* shape, const int64_t* strides,
                        Extent* extent) {
  if (rank < 0 || rank > kMaxRank) return -1;
  return internal_layout::Walk<false>(rank, shape, strides, nullptr, extent);
}

bool Layout::is_contiguous() const {
  if (num_elements_ == 0) return true;
  int64_t step = 1;
  for (int i = rank_ - 1; i >= 0; --i) {
    if (shape(i) == 1) continue;
    if (stride(i) != step) return false;
    step *= shape(i);
  }
  return true;
}

Extent Layout::extent() const {
  Extent e;
  if (num_elements_ == 0) return e;
  for (int i = 0; i < rank_; ++i) {
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

}  // namespace dovetail::inline DOVETAIL_ABI
