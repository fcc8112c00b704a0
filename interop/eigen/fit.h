// Whether a tensor's layout fits an Eigen type, for export.h.
//
//   Placement placement;
//   const Misfit misfit = Fit(kSizesOf<Eigen::Matrix3f>, tensor.layout(), &placement);
//   if (misfit != Misfit::kNone) return MisfitError(misfit, kSizesOf<Eigen::Matrix3f>, tensor);

#ifndef DOVETAIL_INTEROP_EIGEN_FIT_H_
#define DOVETAIL_INTEROP_EIGEN_FIT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_eigen {

// What an Eigen type fixes at compile time; Eigen::Dynamic stands for any size.
struct Sizes {
  int rows, cols, max_rows, max_cols;
  bool is_row_major;
  constexpr bool is_vector() const { return rows == 1 || cols == 1; }
};
template <typename Plain>
inline constexpr Sizes kSizesOf{Plain::RowsAtCompileTime, Plain::ColsAtCompileTime,
                                Plain::MaxRowsAtCompileTime, Plain::MaxColsAtCompileTime,
                                static_cast<bool>(Plain::IsRowMajor)};

// A tensor's sizes and strides (elements) as rows and columns.
struct Placement {
  int64_t rows, cols, row_stride, col_stride;
  int64_t outer(const Sizes& sizes) const { return sizes.is_row_major ? row_stride : col_stride; }
  int64_t inner(const Sizes& sizes) const { return sizes.is_row_major ? col_stride : row_stride; }
};

enum class Misfit { kNone, kRank, kSize, kIndex, kGaps };

// False only where the program sets EIGEN_DEFAULT_DENSE_INDEX_TYPE to a narrower type.
constexpr bool IsIndex(int64_t value) { return std::in_range<Eigen::Index>(value); }

constexpr bool FitsSize(int64_t size, int fixed, int max) {
  return (fixed == Eigen::Dynamic || size == fixed) && (max == Eigen::Dynamic || size <= max);
}

// A vector type takes one dimension, or two of the vector's own orientation.
inline Misfit Fit(const Sizes& sizes, const Layout& layout, Placement* placement) {
  if (layout.rank() == 2) {
    *placement = {layout.shape(0), layout.shape(1), layout.stride(0), layout.stride(1)};
  } else if (layout.rank() == 1 && sizes.is_vector()) {
    const int64_t size = layout.shape(0), stride = layout.stride(0);
    *placement =
        sizes.cols == 1 ? Placement{size, 1, stride, size} : Placement{1, size, size, stride};
  } else {
    return Misfit::kRank;
  }
  const Placement& p = *placement;
  if (!FitsSize(p.rows, sizes.rows, sizes.max_rows) ||
      !FitsSize(p.cols, sizes.cols, sizes.max_cols)) {
    return Misfit::kSize;
  }
  if (!IsIndex(p.rows) || !IsIndex(p.cols) || !IsIndex(p.row_stride) || !IsIndex(p.col_stride)) {
    return Misfit::kIndex;
  }
  return Misfit::kNone;
}

// Whether the elements lie as in an Eigen::Map without strides. The strides of dimensions of size 1
// do not count.
inline bool HasNoGaps(const Sizes& sizes, const Placement& p) {
  if (p.rows == 0 || p.cols == 0) return true;
  const int64_t inner_size = sizes.is_row_major ? p.cols : p.rows;
  const int64_t outer_size = sizes.is_row_major ? p.rows : p.cols;
  return (inner_size == 1 || p.inner(sizes) == 1) &&
         (outer_size == 1 || p.outer(sizes) == inner_size);
}

[[gnu::cold]] inline std::string SizeToString(int size, int max) {
  if (size != Eigen::Dynamic) return absl::StrCat(size);
  return max == Eigen::Dynamic ? "any" : absl::StrCat("at most ", max);
}

[[gnu::cold]] inline absl::Status MisfitError(Misfit misfit, const Sizes& sizes,
                                              const Tensor& tensor) {
  const std::string target =
      sizes.is_vector() && (sizes.rows == Eigen::Dynamic || sizes.cols == Eigen::Dynamic)
          ? "an Eigen::Map of a vector"
          : absl::StrCat("an Eigen::Map of ", SizeToString(sizes.rows, sizes.max_rows), " by ",
                         SizeToString(sizes.cols, sizes.max_cols), " elements");
  const char* reason = "";
  const char* remedy = "";
  switch (misfit) {
    case Misfit::kRank:
      reason = sizes.is_vector() ? "it has neither 1 dimension nor 2" : "it has not 2 dimensions";
      remedy = sizes.is_vector()
                   ? "Select or Reshape it to 1 dimension, or use AsTensorMap for any rank"
                   : "Use AsVectorMap for 1 dimension, AsTensorMap for any, or Reshape it";
      break;
    case Misfit::kSize:
      reason = "the sizes differ";
      remedy = "Name an Eigen type with these sizes or with Eigen::Dynamic";
      break;
    case Misfit::kIndex:
      reason = "a size or stride does not fit Eigen::Index";
      remedy = "Leave EIGEN_DEFAULT_DENSE_INDEX_TYPE at its default, or take a part of the tensor";
      break;
    default:
      reason = sizes.is_row_major ? "its elements do not lie row by row without gaps"
                                  : "its elements do not lie column by column without gaps";
      remedy = "Use AsMap, which takes any strides, or copy the tensor in that order (Copied)";
  }
  return internal_interop::Refusal(tensor, target, reason, remedy);
}

}  // namespace internal_eigen
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_EIGEN_FIT_H_
