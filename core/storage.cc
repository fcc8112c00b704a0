#include "dovetail/core/storage.h"

#include <algorithm>
#include <memory>
#include <new>

#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"

namespace dovetail::inline DOVETAIL_ABI {

absl::StatusOr<StorageRef> Storage::Allocate(size_t nbytes, Device device, MemoryKind kind) {
  return Allocate(nbytes, Stream::Default(device), kind);
}

absl::StatusOr<StorageRef> Storage::Allocate(size_t nbytes, const Stream& stream, MemoryKind kind) {
  const Device device = stream.device();
  absl::StatusOr<DeviceBackend*> backend = BackendFor(device);
  if (!backend.ok()) return backend.status();
  absl::StatusOr<Allocator*> allocator = (*backend)->GetAllocator(device, kind);
  if (!allocator.ok()) return allocator.status();
  // The Storage first: whatever fails from here on, memory included, finds its way back.
  StorageRef storage = Adopt(nullptr, nbytes, device, {});
  absl::StatusOr<void*> data = (*allocator)->Allocate(nbytes, stream);
  if (!data.ok()) return data.status();
  storage->data_ = *data;
  storage->allocator_ = *allocator;
  storage->RecordUse(stream);
  return storage;
}

void Storage::RecordUse(const Stream& stream) {
  if (device_.type == DeviceType::kCpu) return;
  if (used_on_ == nullptr) used_on_ = new std::vector<Stream>();
  if (std::find(used_on_->begin(), used_on_->end(), stream) == used_on_->end()) {
    used_on_->push_back(stream);
  }
}

void Storage::Destroy() noexcept {
  if (allocator_ != nullptr) {
    allocator_->Deallocate(data_, nbytes_, used_on());
  } else if (release_.function != nullptr) {
    release_.function(release_.context);
  }
  delete used_on_;
  this->~Storage();
  FreeBlock<sizeof(Storage)>(this);
}

}  // namespace dovetail::inline DOVETAIL_ABI
