// The door to PyTorch by its stable C interface, so that one binary serves several versions of it.
//
//   absl::StatusOr<torch::stable::Tensor> x = AsStableTorch(tensor);      // PyTorch 2.11 and later
//   absl::StatusOr<Tensor> y = FromStableTorch(torch_tensor);             // PyTorch 2.9 and later
//
// No copy. Each side keeps the other's memory alive; any thread may drop it. Unlike FromTorch, a
// tensor that came in holds the tensor of PyTorch, not its storage: it must not be resized or set
// to other memory while it is shared. The interface does not tell whether a tensor requires
// gradients or stands for a transform: pass plain tensors.

#ifndef DOVETAIL_INTEROP_TORCH_STABLE_H_
#define DOVETAIL_INTEROP_TORCH_STABLE_H_

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/tensor_wrap.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/torch/check.h"
#include "dovetail/interop/torch/type_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_torch {

// The answer of an operator Tensor -> bool.
inline bool AskStable(const char* op, const torch::stable::Tensor& x) {
  std::array<StableIValue, 1> stack{torch::stable::detail::from(x)};
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_call_dispatcher(op, "", stack.data()));
  return torch::stable::detail::to<bool>(stack[0]);
}

inline absl::Status RefuseStable(absl::string_view reason, absl::string_view remedy) {
  return internal_interop::RefusalOf("torch::stable::Tensor", reason, remedy);
}

inline absl::StatusOr<Tensor> FromStable(torch::stable::Tensor x) {
  if (!x.defined()) return RefuseStable("it is undefined", "Pass a tensor with memory");
  if (x.layout() != torch::headeronly::Layout::Strided) {
    return RefuseStable("its layout is not strided", "Pass x.to_dense() or the like");
  }
  if (AskStable("aten::is_conj", x)) {
    return RefuseStable("it is a lazy conjugate", "Pass x.resolve_conj()");
  }
  if (AskStable("aten::is_neg", x)) {
    return RefuseStable("it is a lazy negation", "Pass x.resolve_neg()");
  }
  const std::optional<DType> dtype = FromTorchType(x.scalar_type());
  const torch::stable::Device device = x.device();
  const std::optional<DeviceType> type = FromTorchDevice(device.type());
  if (!dtype) return RefuseStable("Dovetail has no such type", "Pass x.to(another type)");
  if (!type) return RefuseStable("its device is none of Dovetail's", "Copy it to the CPU");
  const auto sizes = x.sizes(), strides = x.strides();
  const absl::Span<const int64_t> steps(strides.data(), strides.size());
  const int32_t index = device.index() < 0 ? 0 : device.index();
  return internal_tensor::OwnedBy(
      x, internal_tensor::WrapUnowned(x.data_ptr(), *dtype, {sizes.data(), sizes.size()}, &steps,
                                      Device{*type, index}, Access::kReadWrite));
}

}  // namespace internal_torch

// InvalidArgument, with the remedy, for a tensor that is undefined, not strided, lazy, or of an
// element type or on a device that Dovetail lacks. Orders nothing on GPUs.
inline absl::StatusOr<Tensor> FromStableTorch(torch::stable::Tensor x) {
  try {
    return internal_torch::FromStable(std::move(x));
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_11_0
// The errors of AsTorch. `allow_read_only` as in AsTorchOptions. Orders nothing on GPUs.
inline absl::StatusOr<torch::stable::Tensor> AsStableTorch(const Tensor& tensor,
                                                           bool allow_read_only = false) {
  internal_torch::TorchFacts facts;
  if (absl::Status s = internal_torch::CheckForTorch(tensor, allow_read_only, &facts); !s.ok()) {
    return s;
  }
  try {
    internal_interop::UsableStrideList usable;
    const auto strides = internal_torch::StridesForTorch(tensor, facts, &usable);
    return torch::stable::from_blob(
        tensor.raw_data(), {tensor.shape().data(), tensor.shape().size()},
        {strides.data(), strides.size()}, torch::stable::Device(facts.device, facts.index),
        facts.type, [storage = tensor.storage()](void*) {});
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}
#endif

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TORCH_STABLE_H_
