// An Ort::Value that holds a dense tensor of numbers as a Tensor. The memory is shared.
//
//   std::vector<Ort::Value> out = session.Run(…);
//   absl::StatusOr<Tensor> y = FromOrtValue(std::move(out[0]));   // owns the value
//   absl::StatusOr<Tensor> v = ViewOf(out[1]);                    // borrows it
//
// Strings, sequences, maps, sparse tensors, empty optionals, and memory of devices that Dovetail
// does not know are InvalidArgument; nothing is taken then. The value is released on whichever
// thread drops the last reference. Keep the Ort::Env until then; the session may go earlier.
// Values of a session on a GPU are ready: Run waits for its stream.

#ifndef DOVETAIL_INTEROP_ONNXRUNTIME_IMPORT_H_
#define DOVETAIL_INTEROP_ONNXRUNTIME_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/onnxruntime/device_table.h"
#include "dovetail/interop/onnxruntime/status.h"
#include "dovetail/interop/onnxruntime/type_table.h"
#include "dovetail/interop/refusal.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_onnxruntime {

struct ReleaseTypeInfo {
  void operator()(OrtTensorTypeAndShapeInfo* info) const noexcept {
    Ort::GetApi().ReleaseTensorTypeAndShapeInfo(info);
  }
};

inline void ReleaseOrtValue(void* value) noexcept {
  Ort::GetApi().ReleaseValue(static_cast<OrtValue*>(value));
}

// Why a value that is no dense tensor cannot be one.
[[gnu::cold]] inline absl::Status NoTensorError(const OrtValue* value) {
  using internal_interop::RefusalOf;
  ONNXType type;
  if (OrtStatus* error = Ort::GetApi().GetValueType(value, &type)) return ErrorOf(error);
  switch (type) {
    case ONNX_TYPE_SEQUENCE:
      return RefusalOf("an Ort::Value", "it is a sequence",
                       "Take its elements in one by one (Ort::Value::GetValue)");
    case ONNX_TYPE_MAP:
      return RefusalOf("an Ort::Value", "it is a map",
                       "Take its keys and its values in (Ort::Value::GetValue with 0 and 1)");
    case ONNX_TYPE_SPARSETENSOR:
      return RefusalOf("an Ort::Value", "it is a sparse tensor",
                       "Wrap its values and indices (GetSparseTensorValues) with Tensor::Wrap");
    default:
      return RefusalOf("an Ort::Value", absl::StrCat("its ONNXType is ", static_cast<int>(type)),
                       "Only dense tensors can be shared");
  }
}

[[gnu::cold]] inline absl::Status TypeError(ONNXTensorElementDataType type) {
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    return internal_interop::RefusalOf("an Ort::Value", "its elements are strings",
                                       "Read them with Ort::Value::GetStringTensorContent");
  }
  return internal_interop::RefusalOf(
      absl::StrCat("an Ort::Value of element type ", static_cast<int>(type)),
      "Dovetail does not know this type", "Add a Cast to the model");
}

inline absl::Status ReadTypeAndShape(const OrtValue* value, DType* dtype, Layout* layout) {
  const OrtApi& api = Ort::GetApi();
  OrtTensorTypeAndShapeInfo* made = nullptr;
  if (OrtStatus* error = api.GetTensorTypeAndShape(value, &made)) return ErrorOf(error);
  const std::unique_ptr<OrtTensorTypeAndShapeInfo, ReleaseTypeInfo> info(made);
  ONNXTensorElementDataType type;
  if (OrtStatus* error = api.GetTensorElementType(made, &type)) return ErrorOf(error);
  const std::optional<DType> known = DTypeFromOrt(type);
  if (!known) return TypeError(type);
  *dtype = *known;
  size_t rank = 0;
  if (OrtStatus* error = api.GetDimensionsCount(made, &rank)) return ErrorOf(error);
  int64_t shape[Layout::kMaxRank];
  if (rank > std::size(shape)) {
    return internal_interop::RefusalOf(absl::StrCat("an Ort::Value of ", rank, " dimensions"),
                                       "a tensor has fewer", "Reshape it in the model");
  }
  if (OrtStatus* error = api.GetDimensions(made, shape, rank)) return ErrorOf(error);
  return internal_layout::Assign(layout, static_cast<int64_t>(rank), shape, nullptr);
}

// Makes `*tensor`, which is null, a tensor over the value's memory that keeps nothing alive.
inline absl::Status BorrowInto(const OrtValue* value, Access access, Tensor* tensor) {
  const OrtApi& api = Ort::GetApi();
  int has_value = 0;
  if (value != nullptr) {
    if (OrtStatus* error = api.HasValue(value, &has_value)) return ErrorOf(error);
  }
  if (has_value == 0) {
    return internal_interop::RefusalOf("an Ort::Value", "it is empty",
                                       "Ask HasValue() of outputs that are optional");
  }
  int is_tensor = 0;  // GetValueType, which says more, takes 100 ns
  if (OrtStatus* error = api.IsTensor(value, &is_tensor)) return ErrorOf(error);
  if (is_tensor == 0) return NoTensorError(value);
  auto builder = internal_tensor::TensorBuilder::OfNull(tensor);
  DType dtype;
  if (absl::Status s = ReadTypeAndShape(value, &dtype, builder.layout()); !s.ok()) return s;
  const OrtMemoryInfo* memory = nullptr;
  if (OrtStatus* error = api.GetTensorMemoryInfo(value, &memory)) return ErrorOf(error);
  const absl::StatusOr<Device> device = DeviceFromOrt(memory);
  if (!device.ok()) return device.status();
  void* data = nullptr;
  if (OrtStatus* error = api.GetTensorMutableData(const_cast<OrtValue*>(value), &data)) {
    return ErrorOf(error);
  }
  if (data == nullptr && builder.layout()->num_elements() != 0) {
    return internal_interop::RefusalOf("an Ort::Value", "its elements have no memory (nullptr)",
                                       "Give it memory first");
  }
  const int64_t nbytes =
      BytesWithoutGaps(builder.layout()->num_elements(), dtype, Packing::kPacked);
  builder.Finish(
      internal_storage::StorageAccess::Adopt(data, static_cast<size_t>(nbytes), *device, Release{}),
      0, dtype, {.access = access});
  return absl::OkStatus();
}

inline absl::StatusOr<Tensor> Borrow(const OrtValue* value, Access access) {
  absl::StatusOr<Tensor> tensor(std::in_place);  // built where it stands
  if (absl::Status s = BorrowInto(value, access, &*tensor); !s.ok()) [[unlikely]]
    tensor = std::move(s);
  return tensor;
}

}  // namespace internal_onnxruntime

// Takes the value over. On an error it stays as it was. The tensor is writable.
inline absl::StatusOr<Tensor> FromOrtValue(Ort::Value&& value) {
  absl::StatusOr<Tensor> tensor = internal_onnxruntime::Borrow(value, Access::kReadWrite);
  if (tensor.ok()) {
    const Release release = {internal_onnxruntime::ReleaseOrtValue, value.release()};
    internal_storage::StorageAccess::SetRelease(*tensor->storage(), release);
  }
  return tensor;
}
absl::StatusOr<Tensor> FromOrtValue(const Ort::Value& value) = delete;  // std::move it, or ViewOf

// Borrow the value. The tensor and all that share its memory must not outlive it. A const value is
// read-only.
inline absl::StatusOr<Tensor> ViewOf(Ort::Value& value ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_onnxruntime::Borrow(value, Access::kReadWrite);
}
inline absl::StatusOr<Tensor> ViewOf(const Ort::Value& value ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_onnxruntime::Borrow(value, Access::kReadOnly);
}
inline absl::StatusOr<Tensor> ViewOf(Ort::UnownedValue value) {
  return internal_onnxruntime::Borrow(value, Access::kReadWrite);
}
inline absl::StatusOr<Tensor> ViewOf(Ort::ConstValue value) {
  return internal_onnxruntime::Borrow(value, Access::kReadOnly);
}
absl::StatusOr<Tensor> ViewOf(Ort::Value&& value) = delete;  // it would dangle: FromOrtValue

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ONNXRUNTIME_IMPORT_H_
