// Hands a tensor out as an at::Tensor, without a copy.
//
//   absl::StatusOr<at::Tensor> x = AsTorch(tensor);
//   absl::StatusOr<at::Tensor> y = AsTorch(gpu_tensor, {.stream = stream});   // where it is used
//
// The at::Tensor and its views keep the memory alive; any thread may drop them. A tensor that came
// from PyTorch goes back with PyTorch's own storage, so that its aliases stay known to PyTorch.

#ifndef DOVETAIL_INTEROP_TORCH_EXPORT_H_
#define DOVETAIL_INTEROP_TORCH_EXPORT_H_

#include <ATen/core/Tensor.h>

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/torch/check.h"
#include "dovetail/interop/torch/storage.h"
#include "dovetail/interop/torch/type_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct AsTorchOptions {
  // The stream on which PyTorch will use the tensor: it waits for the work on the memory so far,
  // and the memory is not reused before PyTorch's work is done. nullopt: nothing is ordered. Not
  // for the CPU.
  std::optional<Stream> stream = {};
  // Hands read-only memory out, too. PyTorch has no read-only tensors: the caller sees to it that
  // nothing writes, as when it is the input of a module.
  bool allow_read_only = false;
};

// FailedPrecondition, with the remedy, for a tensor that is null, read-only (but see above), of an
// element type or on a device that PyTorch lacks, with padded sub-byte elements, or with negative
// strides. A negative stride that leads to no element becomes 1.
inline absl::StatusOr<at::Tensor> AsTorch(const Tensor& tensor,
                                          const AsTorchOptions& options = {}) {
  internal_torch::TorchFacts facts;
  if (absl::Status s = internal_torch::CheckForTorch(tensor, options.allow_read_only, &facts);
      !s.ok()) [[unlikely]] {
    return s;
  }
  if (options.stream) {
    if (absl::Status s = tensor.storage()->Share(options.stream); !s.ok()) return s;
  }
  const c10::Device device(facts.device, facts.index);
  const auto itemsize = tensor.dtype().itemsize();
  c10::Storage storage = internal_torch::HeldTorchStorage(*tensor.storage());
  int64_t offset = 0;  // of element 0, in bytes
  if (storage) {
    offset = static_cast<char*>(tensor.raw_data()) - static_cast<const char*>(storage.data());
  }
  if (!storage || offset % itemsize != 0 || tensor.num_elements() == 0) {
    storage = internal_torch::MakeTorchStorage(tensor.storage(), device);
    offset = tensor.byte_offset();
  }
  // The elements of an unaligned tensor do not lie at multiples of their size from its storage.
  if (offset % itemsize != 0) {
    return internal_torch::RefuseForTorch(
        tensor, "its first element is no whole number of elements from the start of its memory",
        "Pass Copied(tensor)");
  }
  try {
    at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage),
        c10::DispatchKeySet(c10::computeDispatchKey(facts.type, at::kStrided, device)),
        c10::scalarTypeToTypeMeta(facts.type));
    internal_interop::UsableStrideList usable;
    const auto strides = internal_torch::StridesForTorch(tensor, facts, &usable);
    made.unsafeGetTensorImpl()->set_sizes_and_strides(
        {tensor.shape().data(), tensor.shape().size()}, {strides.data(), strides.size()},
        offset / itemsize);
    return made;
  } catch (const c10::Error& error) {
    return absl::InternalError(error.what_without_backtrace());
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TORCH_EXPORT_H_
