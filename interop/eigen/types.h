// What the door knows of Eigen's types: which element types are Eigen's own, and which Eigen type a
// template argument of the door names.
//
//   dtype_of<Eigen::bfloat16>                     // kBFloat16
//
// Nothing here depends on a tensor.

#ifndef DOVETAIL_INTEROP_EIGEN_TYPES_H_
#define DOVETAIL_INTEROP_EIGEN_TYPES_H_

#include <type_traits>

#include "Eigen/Core"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

static_assert(EIGEN_VERSION_AT_LEAST(3, 4, 0),
              "Dovetail needs Eigen 3.4 or later, whose strides may be negative.");

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Partial specialisations, so that a program's own DTypeTraits<Eigen::half> takes precedence.
template <typename T>
  requires std::is_same_v<T, Eigen::half>
struct DTypeTraits<T> {
  static constexpr DType dtype = kFloat16;
};
template <typename T>
  requires std::is_same_v<T, Eigen::bfloat16>
struct DTypeTraits<T> {
  static constexpr DType dtype = kBFloat16;
};

namespace internal_eigen {

// The type that T names: an Eigen::Matrix or Eigen::Array itself; for an element type, a row-major
// matrix of any size.
template <typename T>
struct Named {
  static constexpr bool kIsPlain = false;
  using Plain = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
};
template <typename T, int... kSizesAndOptions>
struct Named<Eigen::Matrix<T, kSizesAndOptions...>> {
  static constexpr bool kIsPlain = true;
  using Plain = Eigen::Matrix<T, kSizesAndOptions...>;
};
template <typename T, int... kSizesAndOptions>
struct Named<Eigen::Array<T, kSizesAndOptions...>> {
  static constexpr bool kIsPlain = true;
  using Plain = Eigen::Array<T, kSizesAndOptions...>;
};

template <typename From, typename To>
using CopyConst = std::conditional_t<std::is_const_v<From>, const To, To>;

// const if T is.
template <typename T>
using PlainOf = CopyConst<T, typename Named<std::remove_const_t<T>>::Plain>;
template <typename T>
using ScalarOf = CopyConst<T, typename PlainOf<T>::Scalar>;

// Whether T is an Eigen::Matrix or Eigen::Array, which has memory of its own.
template <typename T>
inline constexpr bool kIsPlain = Named<std::remove_cvref_t<T>>::kIsPlain;

// A matrix, an array or an expression of them.
template <typename Derived>
void TakesDense(const Eigen::DenseBase<Derived>&);
template <typename T>
concept Dense = requires(const T& x) { internal_eigen::TakesDense(x); };

}  // namespace internal_eigen
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_EIGEN_TYPES_H_
