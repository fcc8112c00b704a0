// Tensors of any rank as Eigen::TensorMap, and Eigen::Tensor as a tensor. Needs Eigen's unsupported
// module Eigen/CXX11/Tensor.
//
//   auto t = AsTensorMap<float, 3>(tensor);                     // row-major
//   auto c = AsTensorMap<const Eigen::Tensor<float, 3>>(tensor);  // Eigen's default: column-major
//   absl::StatusOr<Tensor> own = FromEigen(std::move(eigen_tensor));
//   absl::StatusOr<Tensor> view = ViewOf(eigen_tensor);
//
// A TensorMap has no strides: elements must lie one after the other in its storage order. It
// borrows, and is unaligned. Otherwise as in export.h and import.h.

#ifndef DOVETAIL_INTEROP_EIGEN_TENSOR_H_
#define DOVETAIL_INTEROP_EIGEN_TENSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/eigen/import.h"
#include "dovetail/interop/eigen/types.h"
#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/offer.h"
#include "dovetail/interop/owner.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/requirements.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_eigen {

template <typename T>
struct IsTensor : std::false_type {};
template <typename T, int kRank, int kOptions, typename Index>
struct IsTensor<Eigen::Tensor<T, kRank, kOptions, Index>> : std::true_type {};

// An Eigen::Tensor, TensorFixedSize or TensorMap: those that have memory.
template <typename T>
struct HasTensorMemory : IsTensor<T> {};
template <typename T, typename Sizes, int kOptions, typename Index>
struct HasTensorMemory<Eigen::TensorFixedSize<T, Sizes, kOptions, Index>> : std::true_type {};
template <typename Plain, int kOptions, template <class> class MakePointer>
struct HasTensorMemory<Eigen::TensorMap<Plain, kOptions, MakePointer>> : std::true_type {};
template <typename T>
concept TensorWithMemory = HasTensorMemory<std::remove_cvref_t<T>>::value;

// Dense strides in the order that Eigen::RowMajor or Eigen::ColMajor names.
template <size_t kRank>
constexpr std::array<int64_t, kRank> DenseStrides(const std::array<int64_t, kRank>& shape,
                                                  bool row_major) {
  std::array<int64_t, kRank> strides{};
  uint64_t stride = 1;  // unsigned: may wrap around where there are no elements
  for (size_t i = 0; i < kRank; ++i) {
    const size_t dim = row_major ? kRank - 1 - i : i;
    strides[dim] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[dim]);
  }
  return strides;
}

[[gnu::cold]] inline absl::Status TensorMisfitError(internal_interop::Want misfit, int rank,
                                                    bool row_major, const Tensor& tensor) {
  const char* reason = "a size does not fit its index type";
  const char* remedy = "Name an Eigen::Tensor with a wider index type";
  if (misfit == internal_interop::Want::kRank) {
    reason = "the ranks differ";
    remedy = "Name the tensor's rank, or Reshape it";
  } else if (misfit != internal_interop::Want::kIndex) {
    reason = "its elements do not lie one after the other in that order";
    remedy = row_major ? "Use AsContiguous(tensor), which copies if it must"
                       : "Use AsTensorMap<T, rank> for row-major tensors, or copy it (Copied)";
  }
  return internal_interop::Refusal(
      tensor,
      absl::StrCat("a ", row_major ? "row" : "column", "-major Eigen::TensorMap of rank ", rank),
      reason, remedy);
}

template <typename T>
absl::StatusOr<Tensor> BorrowTensor(T& tensor) {
  constexpr auto kRank = static_cast<size_t>(T::NumIndices);
  std::array<int64_t, kRank> shape{};
  for (size_t i = 0; i < kRank; ++i) shape[i] = tensor.dimensions()[i];
  return internal_eigen::Unowned(
      tensor.data(), shape,
      internal_eigen::DenseStrides(shape, static_cast<int>(T::Layout) == Eigen::RowMajor));
}

}  // namespace internal_eigen

// Plain is an Eigen::Tensor, const or not. FailedPrecondition: the errors of Tensor::data<T>(), or
// another rank, or elements that do not lie one after the other in Plain's storage order.
template <typename Plain>
absl::StatusOr<Eigen::TensorMap<Plain>> AsTensorMap(
    const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  static_assert(internal_eigen::IsTensor<std::remove_const_t<Plain>>::value,
                "Name an Eigen::Tensor, or an element type and a rank.");
  namespace in = internal_interop;
  constexpr auto kRank = static_cast<size_t>(Plain::NumIndices);
  constexpr bool kRowMajor = static_cast<int>(Plain::Layout) == Eigen::RowMajor;
  using Index = typename Plain::Index;
  using Scalar = internal_eigen::CopyConst<Plain, typename Plain::Scalar>;
  const auto data = tensor.data<Scalar>();
  if (!data.ok()) return data.status();
  const in::Misfit misfit = in::FindMisfit(
      in::OfferOf(tensor.layout()),
      {.rank = static_cast<int32_t>(kRank),
       .max_index = in::MaxIndexOf<Index>(),
       .flags = in::kWantRank | (kRowMajor ? in::kWantRowMajor : in::kWantColumnMajor)});
  if (!misfit.fits()) [[unlikely]] {
    return internal_eigen::TensorMisfitError(misfit.want, static_cast<int>(kRank), kRowMajor,
                                             tensor);
  }
  Eigen::array<Index, kRank> sizes{};
  for (size_t i = 0; i < kRank; ++i) sizes[i] = static_cast<Index>(tensor.shape()[i]);
  return Eigen::TensorMap<Plain>(*data, sizes);
}

// Row-major. T is an element type, const or not.
template <typename T, int kRank>
auto AsTensorMap(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  using Plain = Eigen::Tensor<std::remove_const_t<T>, kRank, Eigen::RowMajor>;
  return AsTensorMap<internal_eigen::CopyConst<T, Plain>>(tensor);
}

// Takes over an Eigen::Tensor, whose elements keep their address. On an error it stays as it was.
template <typename T>
  requires internal_eigen::TensorWithMemory<T>
absl::StatusOr<Tensor> FromEigen(T&& tensor) {
  static_assert(!std::is_reference_v<T> && internal_eigen::IsTensor<T>::value,
                "FromEigen takes an Eigen::Tensor over: FromEigen(std::move(tensor)). "
                "ViewOf(tensor) borrows it.");
  return internal_tensor::OwnedBy(tensor, internal_eigen::BorrowTensor(tensor));
}

// Borrows the memory of an Eigen::Tensor, TensorFixedSize or TensorMap. The tensor and all that
// share its memory must not outlive that memory.
template <typename T>
  requires internal_eigen::TensorWithMemory<T&>
absl::StatusOr<Tensor> ViewOf(T& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_eigen::BorrowTensor(tensor);
}
// A TensorMap may be a temporary: the memory is not its own.
template <typename T>
  requires(!std::is_reference_v<T> && internal_eigen::TensorWithMemory<T>)
absl::StatusOr<Tensor> ViewOf(T&& tensor) {
  static_assert(!internal_eigen::IsTensor<std::remove_cv_t<T>>::value,
                "This tensor dies with the statement: FromEigen takes it over.");
  return internal_eigen::BorrowTensor(tensor);
}

// The same memory, kept alive by `owner`: a deleter, or an object such as a std::shared_ptr
// (interop/owner.h).
template <typename T, typename Owner>
  requires internal_eigen::TensorWithMemory<T>
absl::StatusOr<Tensor> ViewOf(T&& tensor, Owner&& owner) {
  return internal_interop::KeptBy<internal_eigen::ElementOf<T>>(
      std::forward<Owner>(owner), internal_eigen::BorrowTensor(tensor));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_EIGEN_TENSOR_H_
