#include "dovetail/interop/arrow/import.h"

#include <memory>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/exchange.h"
#include "dovetail/interop/arrow/device_table.h"
#include "dovetail/interop/arrow/error.h"
#include "dovetail/interop/arrow/owned.h"
#include "dovetail/interop/arrow/validate.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using OwnedArray = OwnedArrow<ArrowArray>;

// Keeps the array on the heap until the Storage's release destroys it.
struct Holder {
  OwnedArray array;

  static void Delete(void* holder) noexcept {
    static_cast<Holder*>(holder)->~Holder();
    FreeBlock<sizeof(Holder)>(holder);
  }
  struct Deleter {
    void operator()(Holder* holder) const noexcept { Delete(holder); }
  };
  static std::unique_ptr<Holder, Deleter> New(OwnedArray array) {
    void* block = AllocateBlock<sizeof(Holder)>();
    return std::unique_ptr<Holder, Deleter>(new (block) Holder{std::move(array)});
  }
};

absl::Status WaitForEvent(Device device, const void* event) {
  if (device.type == DeviceType::kCpu) {
    return ArrowError("it is on the CPU and has an event to wait for");
  }
  DeviceBackend* backend = FindServing(device.type);
  if (backend == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "This Arrow array can't be imported: it has an event to wait for (sync_event), and no "
        "backend serves ",
        device.ToString(), "; let the producer wait first."));
  }
  return backend->WaitForeign(CurrentStream(device), event);
}

absl::StatusOr<Tensor> Take(const ArrowSchema& schema, OwnedArray array, Device device,
                            const void* event) {
  CheckedArrow checked;
  absl::Status status = ValidateArrow(schema, *array, device, &checked);
  if (status.ok() && event != nullptr) status = WaitForEvent(device, event);
  if (!status.ok()) return status;

  auto holder = Holder::New(std::move(array));
  StorageRef storage = Storage::Adopt(checked.data, checked.nbytes, device,
                                      {.function = &Holder::Delete, .context = holder.get()});
  holder.release();
  if (event != nullptr) storage->RecordUse(CurrentStream(device), UseKind::kOrder);
  return internal_tensor::MakeUnchecked(std::move(storage), checked.byte_offset, checked.dtype,
                                        std::move(checked.layout), {.access = Access::kReadOnly});
}

absl::StatusOr<Tensor> Import(const ArrowSchema& schema, OwnedArray array, Device device,
                              const void* event) {
  return internal_trace::Traced(TraceKind::kImport, "Arrow",
                                [&] { return Take(schema, std::move(array), device, event); });
}

}  // namespace

absl::StatusOr<Tensor> FromArrow(ArrowSchema* schema, ArrowArray* array) {
  const OwnedArrow<ArrowSchema> owned_schema(schema);
  return Import(*owned_schema, OwnedArray(array), Device::Cpu(), nullptr);
}

absl::StatusOr<Tensor> FromArrow(ArrowSchema* schema, ArrowDeviceArray* array) {
  const OwnedArrow<ArrowSchema> owned_schema(schema);
  OwnedArray owned_array(&array->array);
  absl::StatusOr<Device> device = DeviceFromArrow(array->device_type, array->device_id);
  if (!device.ok()) return device.status();
  return Import(*owned_schema, std::move(owned_array), *device, array->sync_event);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
