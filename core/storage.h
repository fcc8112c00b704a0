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

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/block_cache.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/reference_count.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"

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

  // A copy, for a caller who knows that no other thread copies this StorageRef meanwhile: cheaper
  // where it is the only one.
  inline StorageRef CopyUnshared() const;

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
  using Release = ::dovetail::Release;

  // Memory of somebody else's, given back by calling `release`. `data` is the lowest byte (or an
  // opaque handle), `nbytes` how many follow.
  static StorageRef Adopt(void* data, size_t nbytes, Device device, Release release);

  // Memory from the allocator of the device's backend, ready for use on `stream` (none named: the
  // current one). NotFound when no backend serves the device, ResourceExhausted when there is no
  // memory.
  static absl::StatusOr<StorageRef> Allocate(size_t nbytes, Device device,
                                             MemoryKind kind = MemoryKind::kDevice);
  static absl::StatusOr<StorageRef> Allocate(size_t nbytes, const Stream& stream,
                                             MemoryKind kind = MemoryKind::kDevice);

  // Ordinary host memory, for those who make very many: null where there is none to be had in a few
  // steps (0 bytes are such a case), of which Allocate knows more.
  static Storage* TryAllocateOnHost(size_t nbytes);

  void* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }

  // Notes that `stream` was given work on this memory, so that it is not reused before that is
  // done, and that later users wait for it. Of a stream that may be gone later an event is kept
  // instead. Free for the CPU. Any thread.
  void RecordUse(const Stream& stream, UseKind kind = UseKind::kWork) noexcept;

  // The same for a use that is over once `event` has happened.
  void RecordUse(Event event) noexcept;

  // Lets a consumer have the memory: later work of its stream starts after the work so far, and the
  // memory is not reused before its work is done. None: nothing is ordered, and the consumer may
  // use any stream. The handle is not used after the call. Any thread.
  absl::Status Share(const std::optional<Stream>& consumer);

  // Later work of `stream` starts after the work on this memory so far.
  absl::Status OrderBefore(const Stream& stream);

  // The host waits for the work on this memory so far (not for what consumers do unseen).
  absl::Status Synchronize();

  // The streams that were given work on this memory, or waited for it. None on the CPU.
  absl::InlinedVector<Stream, 2> used_on() const;
  // What is known of its uses; null where there were none.
  const Uses* uses() const { return uses_.load(std::memory_order_acquire); }

  // Takes over what is to be called, if that is `function`: the context, and nothing is called any
  // more. For the sole owner of a Storage without uses who can do it more cheaply; nullptr
  // otherwise.
  void* TakeRelease(void (*function)(void*)) {
    if (refs_.value() != 1 || release_.function != function || uses() != nullptr) return nullptr;
    release_.function = nullptr;
    return release_.context;
  }

  // How many references there are; for tests and for copy decisions (1: nobody else sees it).
  int64_t use_count() const { return refs_.value(); }

 private:
  friend class StorageRef;
  Storage(void* data, size_t nbytes, Device device, Release release)
      : data_(data), nbytes_(nbytes), device_(device), release_(release) {}
  static absl::StatusOr<StorageRef> AllocateOn(size_t nbytes, Device device, const Stream& stream,
                                               MemoryKind kind);
  void Destroy() noexcept;
  void GiveBackAfterUses() noexcept;
  Uses* GetUses();

  ReferenceCount refs_;
  void* data_;
  size_t nbytes_;
  Device device_;
  Release release_;
  Allocator* allocator_ = nullptr;     // where the memory goes back to; null: release_
  std::atomic<Uses*> uses_ = nullptr;  // null on the CPU
};

inline StorageRef Storage::Adopt(void* data, size_t nbytes, Device device, Release release) {
  return StorageRef::Take(new (AllocateBlock<sizeof(Storage)>())
                              Storage(data, nbytes, device, release));
}

inline void StorageRef::Ref() {
  if (ptr_ != nullptr) ptr_->refs_.Add();
}

inline StorageRef StorageRef::CopyUnshared() const {
  if (ptr_ != nullptr) ptr_->refs_.AddUnshared();
  return StorageRef(ptr_);
}

inline void StorageRef::Unref() noexcept {
  if (ptr_ != nullptr && ptr_->refs_.Drop()) ptr_->Destroy();
}

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_CORE_STORAGE_H_
