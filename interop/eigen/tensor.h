// Eigen's tensors of any rank: Eigen::TensorMap over a Tensor, and Eigen::Tensor as a Tensor.
//
//   auto t = AsTensorMap<float, 3>(tensor);            // row-major; const float takes read-only
//   memory if (t.ok()) t->chip(0, 0).setZero();
//
//   Eigen::Tensor<float, 3, Eigen::RowMajor> cube(2, 3, 4);
//   absl::StatusOr<Tensor> a = ViewOf(cube);           // borrows
//   absl::StatusOr<Tensor> b = FromEigen(std::move(cube));
//
// Apart from export.h and import.h, because it includes Eigen's unsupported Tensor module. A
// TensorMap has no strides: the tensor must be contiguous. It borrows, as Maps do.

#ifndef DOVETAIL_INTEROP_EIGEN_TENSOR_H_
#define DOVETAIL_INTEROP_EIGEN_TENSOR_H_

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/tensor_wrap.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/eigen/types.h"
#include "dovetail/interop/refusal.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename T, int kRank>
using EigenTensorMap = Eigen::TensorMap<
    internal_eigen::CopyConst<T, Eigen::Tensor<std::remove_const_t<T>, kRank, Eigen::RowMajor>>>;

// FailedPrecondition for another rank, a tensor that is not contiguous, and the errors of
// Tensor::data<T>().
template <typename T, int kRank>
absl::StatusOr<EigenTensorMap<T, kRank>> AsTensorMap(
    const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  const auto data = tensor.data<T>();
  if (!data.ok()) return data.status();
  if (tensor.rank() != kRank) {
    return internal_interop::Refusal(tensor, absl::StrCat("an Eigen::TensorMap of rank ", kRank),
                                     absl::StrCat("it has ", tensor.rank(), " dimensions"),
                                     "Name its rank, or Reshape it");
  }
  if (!tensor.is_contiguous()) {
    return internal_interop::Refusal(tensor, "an Eigen::TensorMap", "it is not contiguous",
                                     "Pass Copied(tensor)");
  }
  std::array<Eigen::Index, static_cast<size_t>(kRank)> sizes{};
  for (int i = 0; i < kRank; ++i) sizes[static_cast<size_t>(i)] = tensor.layout().shape(i);
  return EigenTensorMap<T, kRank>(*data, sizes);
}

namespace internal_eigen {

// A tensor over the memory of an Eigen::Tensor, TensorMap or the like, in its own order.
template <typename Data, typename T>
absl::StatusOr<Tensor> BorrowTensor(Data* data, const T& theirs) {
  constexpr int kRank = T::NumDimensions;
  std::array<int64_t, static_cast<size_t>(kRank)> shape{}, strides{};
  int64_t stride = 1;
  for (int i = 0; i < kRank; ++i) {
    const bool is_row_major = static_cast<int>(T::Layout) == Eigen::RowMajor;
    const auto dim = static_cast<size_t>(is_row_major ? kRank - 1 - i : i);
    shape[dim] = theirs.dimension(dim);
    strides[dim] = stride;
    stride *= shape[dim];
  }
  const absl::Span<const int64_t> steps(strides.data(), strides.size());
  return internal_tensor::WrapUnowned(internal_tensor::WithoutConst(data), dtype_of<Data>,
                                      {shape.data(), shape.size()}, &steps, Device::Cpu(),
                                      internal_tensor::AccessOf<Data>());
}

}  // namespace internal_eigen

// Borrows: the tensor and all that share its memory must not outlive `theirs`.
template <typename T, int kRank, int kOptions, typename Index>
absl::StatusOr<Tensor> ViewOf(
    Eigen::Tensor<T, kRank, kOptions, Index>& theirs ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_eigen::BorrowTensor(theirs.data(), theirs);
}
template <typename T, int kRank, int kOptions, typename Index>
absl::StatusOr<Tensor> ViewOf(
    const Eigen::Tensor<T, kRank, kOptions, Index>& theirs ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_eigen::BorrowTensor(theirs.data(), theirs);
}

// Takes `theirs` over; the address of its elements stays. On an error it is left as it was.
template <typename T, int kRank, int kOptions, typename Index>
absl::StatusOr<Tensor> FromEigen(Eigen::Tensor<T, kRank, kOptions, Index>&& theirs) {
  return internal_tensor::OwnedBy(theirs, internal_eigen::BorrowTensor(theirs.data(), theirs));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_EIGEN_TENSOR_H_
