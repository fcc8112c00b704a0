// How Dovetail's own packages make Tensors without the checks or moves of the public functions.
//
//   TensorBuilder builder(&tensor);                         // the tensor is null from here on
//   if (!TryAssign(builder.layout(), rank, shape, strides, &extent)) return error;
//   builder.Finish(std::move(storage), byte_offset, dtype, options);

#ifndef DOVETAIL_CORE_INTERNAL_TENSOR_BUILDER_H_
#define DOVETAIL_CORE_INTERNAL_TENSOR_BUILDER_H_

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_tensor {

// Builds a Tensor where it stands, so that no Layout is moved. The caller checks that the layout
// lies inside the storage.
class TensorBuilder {
 public:
  explicit TensorBuilder(Tensor* tensor) : tensor_(*tensor) { tensor_.storage_ = StorageRef(); }
  // For a tensor that is null already.
  static TensorBuilder OfNull(Tensor* tensor) { return TensorBuilder(*tensor); }

  Layout* layout() { return &tensor_.layout_; }

  void Finish(StorageRef storage, int64_t byte_offset, DType dtype, Tensor::Options options) {
    new (&tensor_.storage_) StorageRef(std::move(storage));  // it was null
    tensor_.byte_offset_ = byte_offset;
    tensor_.dtype_ = dtype;
    tensor_.access_ = options.access;
    tensor_.packing_ = PackingOf(dtype, options.packing);
  }

  // Tensor::Make without its checks.
  static Tensor MakeUnchecked(StorageRef storage, int64_t byte_offset, DType dtype, Layout layout,
                              Tensor::Options options) {
    options.packing = PackingOf(dtype, options.packing);
    return Tensor(std::move(storage), byte_offset, dtype, std::move(layout), options);
  }

  // raw_data() for a caller that knows the type of the tensor's device.
  static void* RawData(const Tensor& tensor, DeviceType type) { return tensor.RawData(type); }

 private:
  explicit TensorBuilder(Tensor& tensor) : tensor_(tensor) {}
  Tensor& tensor_;
};

inline Tensor MakeUnchecked(StorageRef storage, int64_t byte_offset, DType dtype, Layout layout,
                            Tensor::Options options) {
  return TensorBuilder::MakeUnchecked(std::move(storage), byte_offset, dtype, std::move(layout),
                                      options);
}

// Tensor::Empty into an existing tensor. On an error the tensor is null.
absl::Status MakeEmpty(absl::Span<const int64_t> shape, DType dtype, Device device, Tensor* tensor);

// FailedPrecondition: what functions that return a Status answer for a null tensor.
absl::Status NullTensorError();
// FailedPrecondition: what functions that read or write on the host answer for memory of `device`,
// which the host can't reach.
absl::Status NotOnHostError(Device device);

}  // namespace internal_tensor
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_TENSOR_BUILDER_H_
