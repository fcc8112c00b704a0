// Takes an arrow::Tensor or an arrow::Array in, without a copy.
//
//   absl::StatusOr<Tensor> x = FromArrowTensor(std::move(arrow_tensor));      // a shared_ptr
//   absl::StatusOr<Tensor> y = FromArrowArray(*chunked->chunk(0));
//   absl::StatusOr<Tensor> z = ViewOf(*arrow_tensor);                         // borrows
//
// The tensor holds what it came from until its last reference is dropped, on any thread.

#ifndef DOVETAIL_INTEROP_ARROW_TENSOR_IMPORT_H_
#define DOVETAIL_INTEROP_ARROW_TENSOR_IMPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "arrow/array.h"
#include "arrow/buffer.h"
#include "arrow/c/bridge.h"
#include "arrow/tensor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/tensor_wrap.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/arrow_tensor/type_table.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_arrow_tensor {

inline absl::Status Refuse(absl::string_view reason, absl::string_view remedy) {
  return internal_interop::RefusalOf("arrow::Tensor", reason, remedy);
}

// What a tensor would lose or cannot reach.
inline absl::Status CheckImport(const arrow::Tensor& x, const arrow::Buffer* buffer) {
  if (buffer == nullptr) return Refuse("it has no buffer", "Pass a tensor with memory");
  if (!buffer->is_cpu()) {
    return Refuse("its buffer is not in the CPU's memory",
                  "Copy it there with arrow::Buffer::ViewOrCopy");
  }
  if (!x.dim_names().empty()) {
    return Refuse("a tensor would lose the names of its dimensions",
                  "Make one without names over the same memory: "
                  "arrow::Tensor::Make(x->type(), x->data(), x->shape(), x->strides())");
  }
  return absl::OkStatus();
}

// A tensor over the memory that keeps nothing alive, read-only if that is asked for or the buffer
// is.
inline absl::StatusOr<Tensor> Borrow(const arrow::Tensor& x, bool read_only) {
  const std::shared_ptr<arrow::Buffer> buffer = x.data();  // once: each call counts a reference
  if (absl::Status s = CheckImport(x, buffer.get()); !s.ok()) [[unlikely]]
    return s;
  const std::optional<DType> dtype = FromArrowType(x.type_id());
  if (!dtype) return Refuse(absl::StrCat("its type is ", x.type()->ToString()), "Cast it first");
  const int64_t itemsize = dtype->itemsize();
  absl::InlinedVector<int64_t, Layout::kInlineRank> strides;
  for (size_t i = 0; i < x.strides().size(); ++i) {
    const int64_t bytes = x.strides()[i];
    if (bytes % itemsize != 0 && x.shape()[i] > 1 && x.size() != 0) {
      return Refuse(absl::StrCat("a stride of ", bytes, " bytes is no multiple of ", itemsize),
                    "Copy it first");
    }
    strides.push_back(bytes / itemsize);
  }
  const absl::Span<const int64_t> steps = strides;
  const bool is_read_only = read_only || !buffer->is_mutable();
  absl::StatusOr<Tensor> tensor = internal_tensor::WrapUnowned(
      const_cast<uint8_t*>(buffer->data()), *dtype, x.shape(), &steps, Device::Cpu(),
      is_read_only ? Access::kReadOnly : Access::kReadWrite);
  if (!tensor.ok() || tensor->num_elements() == 0) return tensor;
  // arrow::Tensor's constructors do not check this; its Make() does.
  const Extent extent = tensor->layout().extent();
  if (extent.lowest < 0 || (extent.highest + 1) * itemsize > buffer->size()) {
    return Refuse(
        absl::StrCat("its elements reach beyond its buffer of ", buffer->size(), " bytes"),
        "Make it with arrow::Tensor::Make, which checks that");
  }
  return tensor;
}

}  // namespace internal_arrow_tensor

// Writable if the buffer is mutable. InvalidArgument, with the remedy, for nullptr, for types that
// arrow::Tensor does not support, buffers of GPUs, names of dimensions, strides that are no
// multiple of an element's bytes, and elements outside the buffer.
inline absl::StatusOr<Tensor> FromArrowTensor(std::shared_ptr<arrow::Tensor> x) {
  namespace internal = internal_arrow_tensor;
  if (x == nullptr) return internal::Refuse("it is nullptr", "Pass a tensor");
  return internal_tensor::OwnedBy(x, internal::Borrow(*x, /*read_only=*/false));
}
// The same, read-only.
inline absl::StatusOr<Tensor> FromArrowTensor(std::shared_ptr<const arrow::Tensor> x) {
  namespace internal = internal_arrow_tensor;
  if (x == nullptr) return internal::Refuse("it is nullptr", "Pass a tensor");
  return internal_tensor::OwnedBy(x, internal::Borrow(*x, /*read_only=*/true));
}

// Borrow it. The tensor and all that share its memory must not outlive it. A const one is
// read-only.
inline absl::StatusOr<Tensor> ViewOf(arrow::Tensor& x ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_arrow_tensor::Borrow(x, /*read_only=*/false);
}
inline absl::StatusOr<Tensor> ViewOf(const arrow::Tensor& x ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return internal_arrow_tensor::Borrow(x, /*read_only=*/true);
}

// Numbers, lists of a fixed size and fixed shape tensors, without nulls (interop/arrow/import.h).
// Read-only. InvalidArgument for others and for what Arrow cannot export.
inline absl::StatusOr<Tensor> FromArrowArray(const arrow::Array& x) {
  ArrowSchema schema;
  ArrowArray array;
  const arrow::Status status = arrow::ExportArray(x, &array, &schema);
  if (!status.ok()) return absl::InvalidArgumentError(status.message());
  return FromArrow(&schema, &array);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_TENSOR_IMPORT_H_
