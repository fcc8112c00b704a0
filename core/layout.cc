#include "dovetail/core/layout.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

absl::Status RankError(int64_t rank) {
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
  return absl::InvalidArgumentError(
      absl::StrCat("The strides ", ShapeToString(strides), " with the shape ",
                   ShapeToString(shape), " reach offsets beyond a 64-bit integer."));
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
    return absl::InvalidArgumentError(absl::StrCat("The shape ", ShapeToString(shape), " and the "
                                                   "strides ", ShapeToString(strides),
                                                   " differ in length."));
  }
  absl::StatusOr<Layout> layout{Layout()};
  absl::Status status = layout->Assign(shape.size(), shape.data(), strides.data());
  if (!status.ok()) layout = std::move(status);
  return layout;
}

absl::Status Layout::Assign(int64_t rank, const int64_t* shape, const int64_t* strides) {
  Free();
  rank_ = 0;
  num_elements_ = 1;
  if (rank < 0 || rank > kMaxRank) return RankError(rank);
  absl::Span<const int64_t> sizes(shape, rank);

  int64_t product = 1;  // of the sizes that are not 0: it must fit even where there are no elements
  bool empty = false;
  for (int64_t size : sizes) {
    if (size < 0) return NegativeSizeError(sizes);
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      return TooLargeError(sizes);
    }
  }
  if (strides != nullptr && !empty) {
    int64_t lowest = 0, highest = 0;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t span;
      int64_t& end = strides[i] < 0 ? lowest : highest;
      if (__builtin_mul_overflow(shape[i] - 1, strides[i], &span) ||
          __builtin_add_overflow(end, span, &end)) {
        return ReachError(sizes, {strides, static_cast<size_t>(rank)});
      }
    }
  }

  if (rank > kInlineRank) AllocateHeap(rank);
  rank_ = static_cast<int32_t>(rank);
  num_elements_ = empty ? 0 : product;
  int64_t* to = dims();
  int64_t step = 1;
  for (int64_t i = rank - 1; i >= 0; --i) {
    to[i] = shape[i];
    to[rank + i] = strides != nullptr ? strides[i] : step;
    // As the array libraries do: a size of 0 counts as 1 here. The product above fits.
    step *= shape[i] == 0 ? 1 : shape[i];
  }
  return absl::OkStatus();
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
