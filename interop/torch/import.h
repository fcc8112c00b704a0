// Takes an at::Tensor in, without a copy.
//
//   absl::StatusOr<Tensor> x = FromTorch(torch_tensor);
//   absl::StatusOr<Tensor> y = FromTorch(gpu_tensor, {.stream = stream});   // PyTorch's current
//   one
//
// The tensor holds PyTorch's storage, so its memory stays although the at::Tensor is resized, set
// to other memory or dropped. As with `t.numpy()` in Python, the storage cannot be resized any
// more. It is writable; ReadOnly() narrows it. Any thread may drop it.

#ifndef DOVETAIL_INTEROP_TORCH_IMPORT_H_
#define DOVETAIL_INTEROP_TORCH_IMPORT_H_

#include <ATen/core/Tensor.h>

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/internal/tensor_wrap.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/torch/storage.h"
#include "dovetail/interop/torch/type_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct FromTorchOptions {
  // The stream on which PyTorch works on the tensor, such as
  // c10::cuda::getCurrentCUDAStream().stream(). Later work on the memory waits for it. nullopt:
  // nothing is ordered. Not for the CPU.
  std::optional<Stream> stream = {};
};

namespace internal_torch {

// Why an at::Tensor has no memory of its own that can be shared; nullptr if it has.
inline const char* WhyNotPlain(const at::Tensor& x, const char** remedy) {
  *remedy = "Pass x.to_dense() or the like";
  if (!x.defined()) return *remedy = "Pass a tensor with memory", "it is undefined";
  if (x.layout() != at::kStrided || x.is_nested()) return "its layout is not strided";
  if (x.is_meta()) return *remedy = "Pass a tensor with memory", "it is on the meta device";
  *remedy = "Call it where its values are plain: outside of transforms and fake modes";
  if (!x.has_storage() || x.key_set().has(c10::DispatchKey::Python)) {
    return "a subclass or a transform stands for its values";
  }
  if (x.requires_grad()) return *remedy = "Pass x.detach()", "it requires gradients";
  if (x.is_conj()) return *remedy = "Pass x.resolve_conj()", "it is a lazy conjugate";
  if (x.is_neg()) return *remedy = "Pass x.resolve_neg()", "it is a lazy negation";
  if (x._is_zerotensor()) return *remedy = "Pass x.clone()", "it is a lazy zero";
  return nullptr;
}

inline absl::Status RefuseTorch(absl::string_view reason, absl::string_view remedy) {
  return internal_interop::RefusalOf("at::Tensor", reason, remedy);
}

}  // namespace internal_torch

// InvalidArgument, with the remedy, for a tensor without memory of its own (sparse, meta, lazy, of
// a transform), one that requires gradients, and an element type or device that Dovetail lacks.
inline absl::StatusOr<Tensor> FromTorch(const at::Tensor& x, const FromTorchOptions& options = {}) {
  const char* remedy;
  if (const char* reason = internal_torch::WhyNotPlain(x, &remedy)) [[unlikely]]
    return internal_torch::RefuseTorch(reason, remedy);
  const std::optional<DType> dtype = internal_torch::FromTorchType(x.scalar_type());
  const std::optional<DeviceType> type = internal_torch::FromTorchDevice(x.device().type());
  if (!dtype) {
    return internal_torch::RefuseTorch(
        absl::StrCat("Dovetail has no ", c10::toString(x.scalar_type())),
        "Pass x.to(another type)");
  }
  if (!type) {
    return internal_torch::RefuseTorch(absl::StrCat("its memory is on ", x.device().str()),
                                       "Copy it to the CPU");
  }
  const Device device = {*type, x.device().has_index() ? x.device().index() : 0};
  const absl::Span<const int64_t> strides(x.strides().data(), x.strides().size());
  void* data;
  try {
    data = x.mutable_data_ptr();  // gives memory of its own to a storage that copies on write
  } catch (const c10::Error& error) {
    return absl::ResourceExhaustedError(error.what_without_backtrace());
  }
  absl::StatusOr<Tensor> tensor = internal_tensor::WrapUnowned(
      data, *dtype, {x.sizes().data(), x.sizes().size()}, &strides, device, Access::kReadWrite);
  if (!tensor.ok()) return tensor;
  internal_tensor::SetRelease(*tensor, internal_torch::HoldTorchStorage(x.storage()));
  if (options.stream) tensor->storage()->RecordUse(*options.stream);
  return tensor;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TORCH_IMPORT_H_
