// How a Tensor holds a c10::Storage, and how a c10::Storage holds a Storage.

#ifndef DOVETAIL_INTEROP_TORCH_STORAGE_H_
#define DOVETAIL_INTEROP_TORCH_STORAGE_H_

#include <c10/core/Storage.h>

#include <utility>

#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/storage.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_torch {

inline void DropTorchStorage(void* held) {
  c10::intrusive_ptr<c10::StorageImpl>::reclaim(static_cast<c10::StorageImpl*>(held));
}

// A use of the storage, which cannot be resized from now on: its memory must stay where it is.
inline Release HoldTorchStorage(c10::Storage storage) {
  storage.unsafeGetStorageImpl()->set_resizable(false);
  return {&DropTorchStorage, storage.unsafeReleaseStorageImpl()};
}

// The storage of PyTorch that `storage` holds; null if it holds none.
inline c10::Storage HeldTorchStorage(const Storage& storage) {
  const Release release = storage.release();
  if (release.function != &DropTorchStorage) return c10::Storage();
  return c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(
      static_cast<c10::StorageImpl*>(release.context)));
}

// A storage of PyTorch over all of `storage`, to which it holds a reference.
inline c10::Storage MakeTorchStorage(StorageRef storage, c10::Device device) {
  void* const data = storage->data();
  const size_t nbytes = storage->nbytes();
  constexpr auto kDrop = [](void* held) { StorageRef::Take(static_cast<Storage*>(held)); };
  return c10::Storage(c10::Storage::use_byte_size_t(), nbytes,
                      c10::DataPtr(data, std::move(storage).Leak(), kDrop, device),
                      /*allocator=*/nullptr, /*resizable=*/false);
}

}  // namespace internal_torch
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TORCH_STORAGE_H_
