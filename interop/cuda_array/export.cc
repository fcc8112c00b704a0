#include "dovetail/interop/cuda_array/export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/array_interface/typestr.h"
#include "dovetail/interop/cuda_array/stream_codes.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

// The interface names one stream: the only one that was given work on the memory, or our default
// stream after it has waited for all of them.
absl::StatusOr<Stream> JoinStreams(DeviceBackend* backend, const Storage& storage) {
  const absl::Span<const Stream> used = storage.used_on();
  if (used.size() == 1) return used[0];
  if (backend == nullptr) return BackendFor(storage.device()).status();
  Stream ours = Stream::Default(storage.device());
  for (const Stream& stream : used) {
    if (stream == ours) continue;
    absl::StatusOr<Event> event = backend->Record(stream);
    if (!event.ok()) return event.status();
    if (absl::Status s = backend->Wait(ours, *event); !s.ok()) return s;
  }
  return ours;
}

absl::StatusOr<int64_t> StreamCode(const Storage& storage) {
  DeviceBackend* backend = Registry::Global().Find(storage.device().type);
  absl::StatusOr<Stream> stream = JoinStreams(backend, storage);
  if (!stream.ok()) return stream.status();
  // Without a backend the stream is one that came in by this interface, whose codes are handles.
  if (backend == nullptr) return static_cast<int64_t>(stream->native());
  absl::StatusOr<std::optional<int64_t>> code = backend->EncodeStream(*stream);
  if (!code.ok()) return code.status();
  return FromDLPackStream(*code);
}

}  // namespace

absl::StatusOr<CudaArrayExport> ExportCudaArray(const Tensor& tensor) {
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
  if (!tensor.storage()->used_on().empty()) {
    absl::StatusOr<int64_t> code = StreamCode(*tensor.storage());
    if (!code.ok()) return code.status();
    out.stream = *code;
  }
  return out;
}

}  // namespace dovetail::inline DOVETAIL_ABI
