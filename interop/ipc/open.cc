#include "dovetail/interop/ipc/open.h"

#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/write_faults.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/exchange.h"
#include "dovetail/interop/ipc/record.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

// Whether the memory's mapping can't be written, whatever else the handle says.
bool NamesReadOnlyMemory(const Handle& handle) {
  if (handle.device.type != DeviceType::kCpu) return false;
  const absl::StatusOr<SlotName> name = SlotName::FromBytes(handle.memory);
  return name.ok() && name->read_only;
}

// For the report of a write: the bytes that the tensor reaches.
void Describe(const Tensor& tensor, const Handle& handle) {
  ByteRange bytes;
  if (!BytesReached(tensor.layout(), tensor.dtype(), tensor.packing(), &bytes).ok()) return;
  DescribeReadOnly(static_cast<const char*>(tensor.raw_data()) + bytes.begin, bytes.size(),
                   handle.ToString());
}

absl::StatusOr<Tensor> OpenMemory(const Handle& handle) {
  if (handle.layout.num_elements() == 0) {
    return Tensor::Make(Storage::Adopt(nullptr, 0, handle.device, {}), 0, handle.dtype,
                        handle.layout, handle.options);
  }
  const DeviceType type = handle.device.type;
  absl::StatusOr<DeviceBackend*> backend = BackendFor({type, 0});
  if (!backend.ok()) return backend.status();
  absl::StatusOr<OpenedMemory> opened = (*backend)->OpenMemory(type, handle.memory);
  if (!opened.ok()) return opened.status();
  absl::Cleanup release = [&] {
    if (opened->release.function != nullptr) opened->release.function(opened->release.context);
  };
  StorageRef storage =
      Storage::Adopt(opened->data, opened->nbytes, opened->device, opened->release);
  std::move(release).Cancel();
  if (opened->ready) storage->RecordUse(*std::move(opened->ready));
  Tensor::Options options = handle.options;
  const bool is_read_only = NamesReadOnlyMemory(handle);
  if (is_read_only) options.access = Access::kReadOnly;
  absl::StatusOr<Tensor> tensor =
      Tensor::Make(std::move(storage), handle.byte_offset, handle.dtype, handle.layout, options);
  if (is_read_only && tensor.ok() && WriteFaultsAreReported()) Describe(*tensor, handle);
  return tensor;
}

}  // namespace

absl::StatusOr<Tensor> Open(std::string_view message) {
  absl::StatusOr<OpenedMessage> opened = FromMessage(message);
  if (!opened.ok()) return opened.status();
  absl::StatusOr<Handle> handle = Handle::FromBytes(opened->handle);
  if (!handle.ok()) return handle.status();
  absl::StatusOr<Tensor> tensor = Open(*handle);
  if (tensor.ok()) opened->Take();
  return tensor;
}

absl::StatusOr<Tensor> Open(const Handle& handle) {
  return internal_trace::Traced(TraceKind::kImport, "IPC handle",
                                [&] { return OpenMemory(handle); });
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
