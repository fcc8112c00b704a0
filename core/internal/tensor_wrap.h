// The implementation of Tensor::Wrap and Tensor::Borrow, which tensor.h includes at its end.

#ifndef DOVETAIL_CORE_INTERNAL_TENSOR_WRAP_H_
#define DOVETAIL_CORE_INTERNAL_TENSOR_WRAP_H_

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_tensor {

// A tensor over memory whose release calls nothing yet. Row-major if `strides` is nullptr.
// (Not const void*: g++ would warn in programs that wrap memory before they fill it.)
absl::StatusOr<Tensor> WrapUnowned(void* data, DType dtype, absl::Span<const int64_t> shape,
                                   const absl::Span<const int64_t>* strides, Device device,
                                   Access access);
void SetRelease(const Tensor& tensor, Release release);
absl::Status CountError(int64_t num_values, const Tensor& tensor);

template <typename T>
constexpr Access AccessOf() {
  return std::is_const_v<T> ? Access::kReadOnly : Access::kReadWrite;
}

template <typename T>
void* WithoutConst(T* data) {
  return const_cast<std::remove_const_t<T>*>(data);
}

// Moves `owner` into the release of the tensor's Storage. If `tensor` is an error, it is returned
// and `owner` stays as it is.
template <typename Owner>
absl::StatusOr<Tensor> OwnedBy(Owner& owner, absl::StatusOr<Tensor> tensor) {
  if (tensor.ok()) {
    SetRelease(*tensor,
               {[](void* kept) { delete static_cast<Owner*>(kept); }, new Owner(std::move(owner))});
  }
  return tensor;
}

// Row-major memory of the CPU.
template <typename T>
absl::StatusOr<Tensor> WrapDense(T* data, absl::Span<const int64_t> shape) {
  return WrapUnowned(WithoutConst(data), dtype_of<std::remove_const_t<T>>, shape, nullptr,
                     Device::Cpu(), AccessOf<T>());
}

// The same of all elements of a vector, `const T` those of a const one.
template <typename T, typename Vector>
absl::StatusOr<Tensor> WrapVector(Vector& values, absl::Span<const int64_t> shape) {
  static_assert(!std::is_same_v<std::remove_const_t<T>, bool>,
                "std::vector<bool> has no elements that can be shared");
  absl::StatusOr<Tensor> tensor = WrapDense<T>(values.data(), shape);
  const auto count = static_cast<int64_t>(values.size());
  if (tensor.ok() && tensor->num_elements() != count) return CountError(count, *tensor);
  return tensor;
}

}  // namespace internal_tensor

template <typename T, typename A>
absl::StatusOr<Tensor> Tensor::Wrap(std::vector<T, A>&& values, absl::Span<const int64_t> shape) {
  return internal_tensor::OwnedBy(values, internal_tensor::WrapVector<T>(values, shape));
}

template <typename T>
absl::StatusOr<Tensor> Tensor::Wrap(T* data, absl::Span<const int64_t> shape,
                                    std::shared_ptr<const void> owner) {
  return internal_tensor::OwnedBy(owner, internal_tensor::WrapDense(data, shape));
}

template <typename T>
absl::StatusOr<Tensor> Tensor::Borrow(T* data, absl::Span<const int64_t> shape) {
  return internal_tensor::WrapDense(data, shape);
}

template <typename T, typename A>
absl::StatusOr<Tensor> Tensor::Borrow(std::vector<T, A>& values, absl::Span<const int64_t> shape) {
  return internal_tensor::WrapVector<T>(values, shape);
}

template <typename T, typename A>
absl::StatusOr<Tensor> Tensor::Borrow(const std::vector<T, A>& values,
                                      absl::Span<const int64_t> shape) {
  return internal_tensor::WrapVector<const T>(values, shape);
}

template <typename T>
absl::StatusOr<Tensor> Tensor::Wrap(std::unique_ptr<T[]>&& values,
                                    absl::Span<const int64_t> shape) {
  return internal_tensor::OwnedBy(values, internal_tensor::WrapDense(values.get(), shape));
}

template <typename T, typename Deleter>
absl::StatusOr<Tensor> Tensor::Wrap(T* data, absl::Span<const int64_t> shape,
                                    absl::Span<const int64_t> strides, Device device,
                                    Deleter&& deleter) {
  absl::StatusOr<Tensor> tensor =
      internal_tensor::WrapUnowned(internal_tensor::WithoutConst(data), dtype_of<T>, shape,
                                   &strides, device, internal_tensor::AccessOf<T>());
  if (!tensor.ok()) return tensor;
  using Kept = std::decay_t<Deleter>;
  struct Call {
    Kept deleter;
    T* data;
  };
  constexpr auto kRelease = [](void* kept) {
    const std::unique_ptr<Call> call(static_cast<Call*>(kept));
    if constexpr (std::is_invocable_v<Kept&, T*>) {
      call->deleter(call->data);
    } else {
      call->deleter();
    }
  };
  internal_tensor::SetRelease(*tensor, {kRelease, new Call{std::forward<Deleter>(deleter), data}});
  return tensor;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_TENSOR_WRAP_H_
