#include "dovetail/interop/arrow/dimensions.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/interop/arrow/error.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// The number of elements; nullopt if it can't be counted.
std::optional<int64_t> Product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return product;
}

}  // namespace

absl::Status Dimensions::Add(int64_t size) {
  if (size < 0) return ArrowError(absl::StrCat("its length is ", size));
  if (rank_ == Layout::kMaxRank) {
    return ArrowError(absl::StrCat("a tensor has at most ", Layout::kMaxRank, " dimensions"));
  }
  order_[rank_] = rank_;
  sizes_[rank_++] = size;
  return absl::OkStatus();
}

absl::Status Dimensions::AddTensor(const FixedShape& tensor, std::optional<int64_t> list_size) {
  if (!list_size || Product(tensor.shape) != list_size) {
    return ArrowError(absl::StrCat("its tensors have the shape (",
                                   absl::StrJoin(tensor.shape, ", "),
                                   "), but are no lists of as many elements"));
  }
  const int first = rank_;
  for (const int64_t size : tensor.shape) {
    if (absl::Status s = Add(size); !s.ok()) return s;
  }
  for (size_t i = 0; i < tensor.permutation.size(); ++i) {
    order_[first + i] = first + static_cast<int>(tensor.permutation[i]);
    permuted_ = true;
  }
  return absl::OkStatus();
}

absl::Status Dimensions::Assign(Layout* layout) const {
  if (!permuted_) return internal_layout::Assign(layout, rank_, sizes_, nullptr);
  int64_t steps[Layout::kMaxRank];  // between elements along sizes_[i]
  int64_t step = 1;
  for (int i = rank_ - 1; i >= 0; --i) {
    steps[i] = step;
    if (__builtin_mul_overflow(step, sizes_[i], &step)) {
      return ArrowError("its elements can't be counted");
    }
  }
  int64_t shape[Layout::kMaxRank], strides[Layout::kMaxRank];
  for (int i = 0; i < rank_; ++i) {
    shape[i] = sizes_[order_[i]];
    strides[i] = steps[order_[i]];
  }
  return internal_layout::Assign(layout, rank_, shape, strides);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
