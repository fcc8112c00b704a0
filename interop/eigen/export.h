// A tensor as an Eigen::Map: a matrix or vector that Eigen's expressions read and write in place.
//
//   auto m = AsMap<float>(tensor);             // a row-major matrix of any size
//   auto v = AsVectorMap<const float>(tensor); // one dimension; const takes read-only memory
//   auto r = AsMap<Eigen::Matrix3d>(tensor);   // a type of your choice, its sizes checked
//   auto d = AsContiguousMap<Eigen::MatrixXf>(tensor);  // Eigen::Map<Eigen::MatrixXf>, no strides
//   if (m.ok()) *m *= 2;
//
// A Map borrows: it is valid while a tensor of this memory lives. Any strides are taken, negative
// ones included; the maps are unaligned. Assigning to a Map, or to a StatusOr that holds one,
// copies elements, as always in Eigen. FailedPrecondition: the errors of Tensor::data<T>() (element
// type, device, read-only, alignment), and a rank, size or stride that the type does not have.
// Eigen::half is float16, Eigen::bfloat16 is bfloat16. tensor.h has Eigen::TensorMap. Threads: as
// Tensor.

#ifndef DOVETAIL_INTEROP_EIGEN_EXPORT_H_
#define DOVETAIL_INTEROP_EIGEN_EXPORT_H_

#include <type_traits>

#include "Eigen/Core"
#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/eigen/fit.h"
#include "dovetail/interop/eigen/types.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_eigen {

template <typename Plain>
using StrideOf = std::conditional_t<Plain::IsVectorAtCompileTime, Eigen::InnerStride<>,
                                    Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

}  // namespace internal_eigen

// T is an element type (a row-major matrix), an Eigen::Matrix or an Eigen::Array, const or not.
template <typename T>
using EigenMap = Eigen::Map<internal_eigen::PlainOf<T>, Eigen::Unaligned,
                            internal_eigen::StrideOf<internal_eigen::PlainOf<T>>>;
template <typename T>
using EigenContiguousMap = Eigen::Map<internal_eigen::PlainOf<T>>;

// Two dimensions; one for a vector type.
template <typename T>
absl::StatusOr<EigenMap<T>> AsMap(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  using Plain = internal_eigen::PlainOf<T>;
  constexpr internal_eigen::Sizes kSizes = internal_eigen::kSizesOf<Plain>;
  const auto data = tensor.data<internal_eigen::ScalarOf<T>>();
  if (!data.ok()) return data.status();
  internal_eigen::Placement p;
  const internal_eigen::Misfit misfit =
      internal_eigen::Fit(kSizes, tensor.layout(), internal_eigen::Gaps::kAllowed, &p);
  if (!misfit.fits()) [[unlikely]]
    return internal_eigen::MisfitError(misfit.want, kSizes, tensor);
  if constexpr (Plain::IsVectorAtCompileTime) {
    // The stride along the vector, whatever storage order its type has.
    const Eigen::InnerStride<> stride(p.strides[kSizes.cols == 1 ? 0 : 1]);
    return EigenMap<T>(*data, p.rows(), p.cols(), stride);
  } else {
    return EigenMap<T>(*data, p.rows(), p.cols(), {p.outer(kSizes), p.inner(kSizes)});
  }
}

// One dimension, as a column vector of any size. T is an element type.
template <typename T>
auto AsVectorMap(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  using Vector = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>;
  return AsMap<internal_eigen::CopyConst<T, Vector>>(tensor);
}

// Without strides. FailedPrecondition too if the elements do not lie one after the other in the
// type's storage order.
template <typename T>
absl::StatusOr<EigenContiguousMap<T>> AsContiguousMap(
    const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  constexpr internal_eigen::Sizes kSizes = internal_eigen::kSizesOf<internal_eigen::PlainOf<T>>;
  const auto data = tensor.data<internal_eigen::ScalarOf<T>>();
  if (!data.ok()) return data.status();
  internal_eigen::Placement p;
  const internal_eigen::Misfit misfit =
      internal_eigen::Fit(kSizes, tensor.layout(), internal_eigen::Gaps::kNone, &p);
  if (!misfit.fits()) [[unlikely]]
    return internal_eigen::MisfitError(misfit.want, kSizes, tensor);
  return EigenContiguousMap<T>(*data, p.rows(), p.cols());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_EIGEN_EXPORT_H_
