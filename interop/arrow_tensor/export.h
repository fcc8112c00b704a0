// Hands a tensor out as an arrow::Tensor or an arrow::Array, without a copy.
//
//   absl::StatusOr<std::shared_ptr<arrow::Tensor>> x = AsArrowTensor(tensor);    // any strides
//   absl::StatusOr<std::shared_ptr<arrow::Array>> y = AsArrowArray(tensor);      // lists of lists
//
// Both hold the tensor's memory until the last buffer that shares it is gone, on any thread. Before
// they go out the host waits for pending work on the memory. Any thread.

#ifndef DOVETAIL_INTEROP_ARROW_TENSOR_EXPORT_H_
#define DOVETAIL_INTEROP_ARROW_TENSOR_EXPORT_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "arrow/array.h"
#include "arrow/buffer.h"
#include "arrow/c/bridge.h"
#include "arrow/tensor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/host_ready.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow_tensor/type_table.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/usable_strides.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_arrow_tensor {

// The memory of a tensor from element 0 on.
class TensorBuffer final : public arrow::Buffer {
 public:
  TensorBuffer(const Tensor& tensor, int64_t nbytes)
      : arrow::Buffer(static_cast<const uint8_t*>(tensor.raw_data()), nbytes),
        storage_(tensor.storage()) {
    is_mutable_ = !tensor.is_read_only();
  }

 private:
  StorageRef storage_;
};

inline absl::Status Refuse(const Tensor& tensor, absl::string_view reason,
                           absl::string_view remedy) {
  return internal_interop::Refusal(tensor, "an arrow::Tensor", reason, remedy);
}

inline absl::Status CheckForArrow(const Tensor& tensor) {
  if (tensor.is_null()) return Refuse(tensor, "it is null", "Pass a tensor with memory");
  if (!IsHostAccessible(tensor.device().type)) {
    return Refuse(tensor, "the host cannot access its memory",
                  "Pass Copied(tensor, {.device = Device::Cpu()})");
  }
  if (internal_interop::StepsBack(tensor.layout())) {
    return Refuse(tensor, "Arrow has no negative strides", "Pass Copied(tensor)");
  }
  return absl::OkStatus();
}

}  // namespace internal_arrow_tensor

// Strides and access are kept: the buffer of a read-only tensor is not mutable. FailedPrecondition,
// with the remedy, for a tensor that is null, of a type that Arrow's tensors lack (bool, complex,
// bfloat16 and narrower), in memory that the host cannot access, or with negative strides. A stride
// that Arrow can't express and that leads to no element becomes 1 element.
inline absl::StatusOr<std::shared_ptr<arrow::Tensor>> AsArrowTensor(const Tensor& tensor) {
  namespace internal = internal_arrow_tensor;
  if (absl::Status s = internal::CheckForArrow(tensor); !s.ok()) return s;
  const std::shared_ptr<arrow::DataType>* type = internal::ToArrowType(tensor.dtype());
  if (type == nullptr) {
    return internal::Refuse(tensor, "Arrow has no tensors of its element type",
                            "Pass Copied(tensor, {.dtype = kFloat32}) or another type");
  }
  if (absl::Status s = internal_tensor::ReadyHost(tensor); !s.ok()) return s;
  if (absl::Status s = tensor.storage()->Share(std::nullopt); !s.ok()) return s;
  const int64_t itemsize = tensor.dtype().itemsize();
  const int64_t count =
      tensor.num_elements() == 0 ? 0 : tensor.layout().extent().highest + int64_t{1};
  const auto usable = internal_interop::UsableStrides(
      tensor.layout(), std::numeric_limits<int64_t>::max() / itemsize);
  std::vector<int64_t> strides(usable.begin(), usable.end());
  for (int64_t& stride : strides) stride *= itemsize;
  return std::make_shared<arrow::Tensor>(
      *type, std::make_shared<internal::TensorBuffer>(tensor, count * itemsize),
      std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()), std::move(strides));
}

// Dimensions after the first become lists of a fixed size, or an extension type that Arrow must
// know (interop/arrow/export.h). InvalidArgument for what ToArrow refuses and for what Arrow does.
inline absl::StatusOr<std::shared_ptr<arrow::Array>> AsArrowArray(
    const Tensor& tensor, const ToArrowOptions& options = {}) {
  ArrowSchema schema;
  ArrowArray array;
  if (absl::Status s = ToArrow(tensor, &schema, &array, options); !s.ok()) return s;
  arrow::Result<std::shared_ptr<arrow::Array>> made = arrow::ImportArray(&array, &schema);
  if (!made.ok()) return absl::InvalidArgumentError(made.status().message());
  return *std::move(made);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_TENSOR_EXPORT_H_
