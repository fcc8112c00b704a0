#include "dovetail/interop/ipc/open.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/exchange.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

namespace {

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
  return Tensor::Make(std::move(storage), handle.byte_offset, handle.dtype, handle.layout,
                      handle.options);
}

}  // namespace

absl::StatusOr<Tensor> Open(const Handle& handle) {
  return internal_trace::Traced(TraceKind::kImport, "IPC handle",
                                [&] { return OpenMemory(handle); });
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
