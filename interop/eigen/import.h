// Eigen's matrices, arrays and views of them as tensors.
//
//   Eigen::MatrixXf m(480, 640);
//   absl::StatusOr<Tensor> a = ViewOf(m);                         // borrows
//   absl::StatusOr<Tensor> b = ViewOf(m.block(0, 0, 8, 8));       // borrows, strides kept
//   absl::StatusOr<Tensor> c = ViewOf(*shared, shared);           // keeps a shared_ptr
//   absl::StatusOr<Tensor> d = FromEigen(std::move(m));           // takes the matrix over
//
// Vectors have one dimension, everything else has two. No element is copied, except those of a
// matrix of fixed size in FromEigen, since they lie in the object that is moved. What is const is
// read-only: a const matrix, Eigen::Map<const …>, Eigen::Ref<const …>. InvalidArgument for strides
// that reach beyond 64 bits; nothing is taken then. tensor.h has the same for Eigen::Tensor.
// Owners are released on whichever thread drops the last reference.

#ifndef DOVETAIL_INTEROP_EIGEN_IMPORT_H_
#define DOVETAIL_INTEROP_EIGEN_IMPORT_H_

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "Eigen/Core"
#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/eigen/types.h"
#include "dovetail/interop/owner.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_eigen {

// A tensor over `data` that keeps nothing alive.
template <typename T>
absl::StatusOr<Tensor> Unowned(T* data, absl::Span<const int64_t> shape,
                               absl::Span<const int64_t> strides) {
  return internal_tensor::WrapUnowned(internal_tensor::WithoutConst(data), dtype_of<T>, shape,
                                      &strides, Device::Cpu(), internal_tensor::AccessOf<T>());
}

// The same of a matrix, array or expression.
template <typename T>
absl::StatusOr<Tensor> Borrow(T& dense) {
  static_assert((T::Flags & Eigen::DirectAccessBit) != 0,
                "This expression has no memory. Evaluate it: FromEigen(Eigen::MatrixXf(a + b)).");
  if constexpr (T::IsVectorAtCompileTime) {
    const int64_t size = dense.size(), stride = dense.innerStride();
    return internal_eigen::Unowned(dense.data(), {&size, 1}, {&stride, 1});
  } else {
    const int64_t shape[] = {dense.rows(), dense.cols()};
    const int64_t strides[] = {dense.rowStride(), dense.colStride()};
    return internal_eigen::Unowned(dense.data(), shape, strides);
  }
}

// The type of the elements, const if they are.
template <typename T>
using ElementOf = std::remove_pointer_t<decltype(std::declval<T&>().data())>;

// Moves `plain` into the release of a tensor over its memory, where it keeps its address.
template <typename Plain>
absl::StatusOr<Tensor> Adopt(std::unique_ptr<Plain> plain, absl::StatusOr<Tensor> tensor) {
  if (tensor.ok()) {
    internal_tensor::SetRelease(
        *tensor, {[](void* kept) { delete static_cast<Plain*>(kept); }, plain.release()});
  }
  return tensor;
}

}  // namespace internal_eigen

// Takes over an Eigen::Matrix or Eigen::Array. The address of its elements stays the same if they
// are on the heap. On an error `plain` stays as it was.
template <typename T>
  requires internal_eigen::Dense<std::remove_cvref_t<T>>
absl::StatusOr<Tensor> FromEigen(T&& plain) {
  static_assert(internal_eigen::kIsPlain<T>,
                "FromEigen takes matrices and arrays over. Borrow a Map, Ref or Block with "
                "ViewOf(x); evaluate another expression: FromEigen(Eigen::MatrixXf(a + b)).");
  static_assert(!std::is_reference_v<T> && !std::is_const_v<T>,
                "FromEigen takes its matrix over: FromEigen(std::move(matrix)). ViewOf(matrix) "
                "borrows it.");
  if constexpr (T::MaxSizeAtCompileTime == Eigen::Dynamic) {
    return internal_tensor::OwnedBy(plain, internal_eigen::Borrow(plain));
  } else {
    auto moved = std::make_unique<T>(std::forward<T>(plain));
    absl::StatusOr<Tensor> tensor = internal_eigen::Borrow(*moved);
    return internal_eigen::Adopt(std::move(moved), std::move(tensor));
  }
}

// Borrows the memory of a matrix, array, Map, Ref, Block or other expression with memory. The
// tensor and all that share its memory must not outlive that memory.
template <typename T>
  requires internal_eigen::Dense<std::remove_cv_t<T>>
absl::StatusOr<Tensor> ViewOf(T& dense ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_eigen::Borrow(dense);
}
// A Map, Ref or Block may be a temporary: the memory is not its own.
template <typename T>
  requires(!std::is_reference_v<T> && internal_eigen::Dense<std::remove_cv_t<T>>)
absl::StatusOr<Tensor> ViewOf(T&& dense) {
  static_assert(!internal_eigen::kIsPlain<T>,
                "This matrix dies with the statement: FromEigen takes it over.");
  return internal_eigen::Borrow(dense);
}

// The same memory, kept alive by `owner`: a deleter, called with the address of element 0 or
// without an argument, or an object such as a std::shared_ptr (interop/owner.h).
template <typename T, typename Owner>
  requires internal_eigen::Dense<std::remove_cvref_t<T>>
absl::StatusOr<Tensor> ViewOf(T&& dense, Owner&& owner) {
  return internal_interop::KeptBy<internal_eigen::ElementOf<T>>(std::forward<Owner>(owner),
                                                                internal_eigen::Borrow(dense));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_EIGEN_IMPORT_H_
