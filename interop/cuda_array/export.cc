#include "dovetail/interop/cuda_array/export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/array_interface/typestr.h"
#include "dovetail/interop/cuda_array/stream_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// The interface names one stream, of the memory's device. If one such stream alone has pending work
// on the memory, this returns it; else the current stream waits for the work and is returned.
absl::StatusOr<Stream> JoinStreams(DeviceBackend* backend, Storage& storage) {
  const auto used = storage.used_on();
  if (used.size() == 1 && storage.uses()->events().empty() &&
      (backend == nullptr || used[0].device() == StreamDevice(storage.device()))) {
    return used[0];
  }
  if (backend == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("The memory was used on several streams, and no backend with devices serves ",
                     storage.device().ToString(), " to join them."));
  }
  Stream ours = CurrentStream(storage.device());
  if (absl::Status s = storage.OrderBefore(ours); !s.ok()) return s;
  return ours;
}

absl::StatusOr<int64_t> StreamCode(Storage& storage) {
  DeviceBackend* backend = FindServing(storage.device().type);
  absl::StatusOr<Stream> stream = JoinStreams(backend, storage);
  if (!stream.ok()) return stream.status();
  // Without a backend, the stream came in through this interface, so its native value is the code.
  if (backend == nullptr) return static_cast<int64_t>(stream->native());
  absl::StatusOr<std::optional<int64_t>> code = backend->EncodeStream(*stream);
  if (!code.ok()) return code.status();
  return FromDLPackStream(*code);
}

}  // namespace

absl::StatusOr<CudaArrayExport> ExportCudaArray(const Tensor& tensor) {
  if (tensor.is_null()) return internal_tensor::NullTensorError();
  const DeviceType type = tensor.device().type;
  if (type != DeviceType::kCuda && type != DeviceType::kRocm && type != DeviceType::kCudaManaged) {
    return absl::InvalidArgumentError(absl::StrCat("The memory is on ", tensor.device().ToString(),
                                                   " and not on a GPU of CUDA or ROCm."));
  }
  absl::StatusOr<std::string> typestr = TypestrFromDType(tensor.dtype());
  if (!typestr.ok()) return typestr.status();
  CudaArrayExport out;
  out.typestr = *std::move(typestr);
  if (tensor.num_elements() == 0) return out;
  out.data = tensor.raw_data();
  Storage& storage = *tensor.storage();
  if (const Uses* uses = storage.uses();
      uses != nullptr && (!uses->streams().empty() || !uses->events().empty())) {
    absl::StatusOr<int64_t> code = StreamCode(storage);
    if (!code.ok()) return code.status();
    out.stream = *code;
  }
  if (absl::Status s = storage.Share(std::nullopt); !s.ok()) return s;
  return out;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
