#include "dovetail/interop/cuda_array/import.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/cuda_array/stream_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("This __cuda_array_interface__ can't be imported: ", what, "."));
}

absl::Status CheckVersion(int64_t version) {
  if (version >= 2 && version <= 3) return absl::OkStatus();
  return Error(absl::StrCat("it has version ", version, ", but only 2 and 3 are supported"));
}

absl::StatusOr<Device> DeviceOf(const BufferLayout& memory) {
  bool any = false;
  for (DeviceType type : {DeviceType::kCuda, DeviceType::kRocm}) {
    DeviceBackend* backend = FindServing(type);
    if (backend == nullptr) continue;
    if (memory.nbytes == 0) return Device{type, 0};
    absl::StatusOr<PointerAttributes> known = backend->GetPointerAttributes(memory.data);
    if (known.ok()) return known->device;
    any = true;
  }
  if (!any) return Device::Cuda(0);
  return Error(absl::StrCat("the address 0x", absl::Hex(reinterpret_cast<uintptr_t>(memory.data)),
                            " is not in the memory of this process's GPUs"));
}

// The stream to record as pending work: the current stream, made to wait for the producer's, or the
// producer's stream if there is no backend to wait.
absl::StatusOr<Stream> StreamToWaitFor(Device device, int64_t code) {
  DeviceBackend* backend = FindServing(device.type);
  if (backend == nullptr) return Stream::Borrow(device, NativeStream{static_cast<uintptr_t>(code)});
  absl::StatusOr<StreamRequest> request = backend->DecodeStream(device, ToDLPackStream(code));
  if (!request.ok()) return request.status();
  Stream ours = CurrentStream(device);
  const Stream& theirs = request->stream.value_or(ours);
  if (theirs == ours) return ours;
  absl::StatusOr<Event> event = backend->Record(theirs);
  if (!event.ok()) return event.status();
  if (absl::Status s = backend->Wait(ours, *event); !s.ok()) return s;
  return ours;
}

}  // namespace

absl::Status ImportCudaArray(const CudaArrayDescription& array, Storage::Release release,
                             Tensor* tensor) {
  absl::Cleanup let_go = [release] {
    if (release.function != nullptr) release.function(release.context);
  };
  if (absl::Status s = CheckVersion(array.version); !s.ok()) return s;
  if (array.stream && *array.stream <= 0) {
    return Error(
        absl::StrCat("its stream is ", *array.stream, "; it must be None, 1, 2 or a handle"));
  }
  BufferLayout memory;
  if (absl::Status s = DescribeArray(array.array, &memory); !s.ok()) return s;
  absl::StatusOr<Device> device = DeviceOf(memory);
  if (!device.ok()) return device.status();
  std::optional<Stream> stream;
  if (array.stream) {
    absl::StatusOr<Stream> found = StreamToWaitFor(*device, *array.stream);
    if (!found.ok()) return found.status();
    stream = *std::move(found);
  }
  Tensor result = AdoptBuffer(std::move(memory), *device, release);
  std::move(let_go).Cancel();
  if (stream) result.storage()->RecordUse(*stream, UseKind::kOrder);
  *tensor = std::move(result);
  return absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
