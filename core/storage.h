// Storage: one counted block of bytes, and how it is released.
//
//   StorageRef s = Storage::Adopt(data, nbytes, Device::Cpu(), {&FreeIt, context});
//   absl::StatusOr<StorageRef> t = Storage::Allocate(1024, Device::Cuda(0));
//
// Tensors share a Storage; the last reference releases it: memory that a backend allocated goes
// back to its allocator, ordered after the streams that used it; memory that was lent goes back by
// calling what the lender gave. That may happen on any thread, so a Release must not need one.

#ifndef DOVETAIL_CORE_STORAGE_H_
#define DOVETAIL_CORE_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/block_cache.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/reference_count.h"
#include "dovetail/core/stream.h"

namespace dovetail::inline DOVETAIL_ABI {

class Storage;

// A counted reference to a Storage, or none. As cheap as a pointer to move.
class StorageRef {
 public:
  StorageRef() = default;
  StorageRef(const StorageRef& other) : ptr_(other.ptr_) { Ref(); }
  StorageRef(StorageRef&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  StorageRef& operator=(StorageRef other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  ~StorageRef() { Unref(); }

  // Takes over one reference, that Leak gave.
  static StorageRef Take(Storage* storage) { return StorageRef(storage); }
  // Gives up the reference without dropping it.
  Storage* Leak() && { return std::exchange(ptr_, nullptr); }

  Storage* get() const { return ptr_; }
  Storage* operator->() const { return ptr_; }
  Storage& operator*() const { return *ptr_; }
  explicit operator bool() const { return ptr_ != nullptr; }
  friend bool operator==(const StorageRef& a, const StorageRef& b) { return a.ptr_ == b.ptr_; }

 private:
  explicit StorageRef(Storage* ptr) : ptr_(ptr) {}
  inline void Ref();
  inline void Unref() noexcept;

  Storage* ptr_ = nullptr;
};

class Storage {
 public:
  // What is called once, on whichever thread drops the last reference. A null function: nothing to
  // release.
  struct Release {
    void (*function)(void* context) = nullptr;
    void* context = nullptr;
  };

  // Memory of somebody else's, given back by calling `release`. `data` is the lowest byte (or an
  // opaque handle), `nbytes` how many follow.
  static StorageRef Adopt(void* data, size_t nbytes, Device device, Release release);

  // Memory from the allocator of the device's backend. NotFound when no backend serves the device,
  // ResourceExhausted when there is no memory.
  static absl::StatusOr<StorageRef> Allocate(size_t nbytes, Device device,
                                             MemoryKind kind = MemoryKind::kDevice);
  static absl::StatusOr<StorageRef> Allocate(size_t nbytes, const Stream& stream,
                                             MemoryKind kind = MemoryKind::kDevice);

  void* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }

  // Notes that `stream` was given work on this memory, so that it is not reused before that is
  // done. Free for the CPU. Not to be called at the same time from several threads.
  void RecordUse(const Stream& stream);

  // The streams that were given work on this memory. None on the CPU.
  absl::Span<const Stream> used_on() const {
    return used_on_ != nullptr ? absl::Span<const Stream>(*used_on_) : absl::Span<const Stream>();
  }

  // Takes over what is to be called, if that is `function`: the context, and nothing is called any
  // more. For the sole owner of a Storage who can do it more cheaply; nullptr otherwise.
  void* TakeRelease(void (*function)(void*)) {
    if (refs_.value() != 1 || release_.function != function) return nullptr;
    release_.function = nullptr;
    return release_.context;
  }

  // How many references there are; for tests and for copy decisions (1: nobody else sees it).
  int64_t use_count() const { return refs_.value(); }

 private:
  friend class StorageRef;
  Storage(void* data, size_t nbytes, Device device, Release release)
      : data_(data), nbytes_(nbytes), device_(device), release_(release) {}
  void Destroy() noexcept;

  ReferenceCount refs_;
  void* data_;
  size_t nbytes_;
  Device device_;
  Release release_;
  Allocator* allocator_ = nullptr;          // where the memory goes back to; null: release_
  std::vector<Stream>* used_on_ = nullptr;  // null on the CPU
};

inline StorageRef Storage::Adopt(void* data, size_t nbytes, Device device, Release release) {
  return StorageRef::Take(new (AllocateBlock<sizeof(Storage)>())
                              Storage(data, nbytes, device, release));
}

inline void StorageRef::Ref() {
  if (ptr_ != nullptr) ptr_->refs_.Add();
}

inline void StorageRef::Unref() noexcept {
  if (ptr_ != nullptr && ptr_->refs_.Drop()) ptr_->Destroy();
}

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_CORE_STORAGE_H_
