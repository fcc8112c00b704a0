// Whether a tensor's layout fits an Eigen type, for export.h.
//
//   Placement placement;
//   const Misfit misfit =
//       Fit(kSizesOf<Eigen::Matrix3f>, tensor.layout(), Gaps::kAllowed, &placement);
//   if (!misfit.fits()) return MisfitError(misfit.want, kSizesOf<Eigen::Matrix3f>, tensor);

#ifndef DOVETAIL_INTEROP_EIGEN_FIT_H_
#define DOVETAIL_INTEROP_EIGEN_FIT_H_

#include <cstdint>
#include <string>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_eigen {

using internal_interop::Misfit;
using internal_interop::Want;

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

// A tensor's rows and columns, in this order, with their strides (elements).
struct Placement {
  int64_t shape[2];
  int64_t strides[2];
  int64_t rows() const { return shape[0]; }
  int64_t cols() const { return shape[1]; }
  int64_t outer(const Sizes& sizes) const { return strides[sizes.is_row_major ? 0 : 1]; }
  int64_t inner(const Sizes& sizes) const { return strides[sizes.is_row_major ? 1 : 0]; }
};

enum class Gaps { kAllowed, kNone };

// A vector type takes one dimension, or two of the vector's own orientation.
[[gnu::always_inline]] inline bool Place(const Sizes& sizes, const Layout& layout,
                                         Placement* placement) {
  if (layout.rank() == 2) {
    *placement = {{layout.shape(0), layout.shape(1)}, {layout.stride(0), layout.stride(1)}};
    return true;
  }
  if (layout.rank() != 1 || !sizes.is_vector()) return false;
  const int64_t size = layout.shape(0), stride = layout.stride(0);
  *placement =
      sizes.cols == 1 ? Placement{{size, 1}, {stride, size}} : Placement{{1, size}, {size, stride}};
  return true;
}

// Where the type does not fit; otherwise `placement` is filled in.
[[gnu::always_inline]] inline Misfit Fit(const Sizes& sizes, const Layout& layout, Gaps gaps,
                                         Placement* placement) {
  namespace in = internal_interop;
  static_assert(int64_t{Eigen::Dynamic} == in::kAnySize);
  if (!Place(sizes, layout, placement)) return {.want = Want::kRank};
  const int64_t shape[] = {sizes.rows, sizes.cols}, most[] = {sizes.max_rows, sizes.max_cols};
  in::Requirements want = {
      .rank = 2, .shape = shape, .max_shape = most, .max_index = in::MaxIndexOf<Eigen::Index>()};
  // A program may set EIGEN_DEFAULT_DENSE_INDEX_TYPE to a narrower type.
  if (want.max_index != in::kAnyIndex) want.flags |= in::kWantIndexedMemory;
  if (gaps == Gaps::kNone) {
    want.flags |= sizes.is_row_major ? in::kWantRowMajor : in::kWantColumnMajor;
  }
  return in::FindMisfit({.rank = 2, .shape = placement->shape, .strides = placement->strides},
                        want);
}

[[gnu::cold]] inline std::string SizeToString(int size, int max) {
  if (size != Eigen::Dynamic) return absl::StrCat(size);
  return max == Eigen::Dynamic ? "any" : absl::StrCat("at most ", max);
}

[[gnu::cold]] inline absl::Status MisfitError(Want misfit, const Sizes& sizes,
                                              const Tensor& tensor) {
  const std::string target =
      sizes.is_vector() && (sizes.rows == Eigen::Dynamic || sizes.cols == Eigen::Dynamic)
          ? "an Eigen::Map of a vector"
          : absl::StrCat("an Eigen::Map of ", SizeToString(sizes.rows, sizes.max_rows), " by ",
                         SizeToString(sizes.cols, sizes.max_cols), " elements");
  const char* reason = "";
  const char* remedy = "";
  switch (misfit) {
    case Want::kRank:
      reason = sizes.is_vector() ? "it has neither 1 dimension nor 2" : "it has not 2 dimensions";
      remedy = sizes.is_vector()
                   ? "Select or Reshape it to 1 dimension, or use AsTensorMap for any rank"
                   : "Use AsVectorMap for 1 dimension, AsTensorMap for any, or Reshape it";
      break;
    case Want::kSize:
      reason = "the sizes differ";
      remedy = "Name an Eigen type with these sizes or with Eigen::Dynamic";
      break;
    case Want::kIndex:
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
