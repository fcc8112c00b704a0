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
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/internal/block_cache.h"
#include "dovetail/core/internal/reference_count.h"
#include "dovetail/core/internal/small_blocks.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

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

  // The same as Allocate on the CPU, for those who make very many: of the small blocks that this
  // thread keeps, one for `nbytes`. Null where there is none, and where Allocate has more to say.
  static Storage* TryTakeKept(size_t nbytes) noexcept;

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

  // What is to be called at the end, of borrowed memory; a null function otherwise.
  Release release() const { return owner_ == Owner::kLender ? release_ : Release{}; }

  // Takes over what is to be called: this Storage calls nothing any more. For the sole owner of a
  // Storage without uses, who calls it himself once the Storage is gone; a null function otherwise.
  Release TakeRelease() {
    if (refs_.value() != 1 || owner_ != Owner::kLender || uses() != nullptr) return {};
    return std::exchange(release_, {});
  }

  // What is called at the end, of adopted memory that nobody else has a reference to yet.
  void SetRelease(Release release) { release_ = release; }

  // How many references there are; for tests and for copy decisions (1: nobody else sees it).
  int64_t use_count() const { return refs_.value(); }

 private:
  friend class StorageRef;
  // Who has the memory in the end, and how it is given back there.
  enum class Owner : uint8_t {
    kLender,      // by calling release_, if that is anything
    kAllocator,   // to allocator_
    kSmallBlock,  // this Storage lies in the header of the block, and stays there with it
  };

  Storage(void* data, size_t nbytes, Device device, Release release)
      : data_(data), nbytes_(nbytes), device_(device), release_(release) {}
  explicit Storage(SmallBlock* block)
      : data_(block->data()), device_(Device::Cpu()), owner_(Owner::kSmallBlock), release_() {}
  static bool IsSmall(size_t nbytes) {
    return IsSmallSize(nbytes) && host_gives_small_blocks.load(std::memory_order_acquire);
  }
  static Storage* In(SmallBlock* block, size_t nbytes);
  static absl::StatusOr<StorageRef> AllocateOn(size_t nbytes, Device device, const Stream& stream,
                                               MemoryKind kind);
  // `device` is the memory's.
  static absl::StatusOr<StorageRef> AllocateFrom(Allocator& allocator, size_t nbytes, Device device,
                                                 const Stream& stream);
  void Destroy() noexcept;
  void DestroyUnkept() noexcept;
  void GiveBackAfterUses() noexcept;
  Uses* GetUses();

  ReferenceCount refs_;
  void* data_;
  size_t nbytes_ = 0;
  Device device_;
  Owner owner_ = Owner::kLender;
  union {
    Release release_;
    Allocator* allocator_;
  };
  std::atomic<Uses*> uses_ = nullptr;  // null on the CPU
};

inline StorageRef Storage::Adopt(void* data, size_t nbytes, Device device, Release release) {
  return StorageRef::Take(new (AllocateBlock<sizeof(Storage)>())
                              Storage(data, nbytes, device, release));
}

inline Storage* Storage::TryTakeKept(size_t nbytes) noexcept {
  if (!IsSmall(nbytes)) [[unlikely]]
    return nullptr;
  SmallBlock* const block = TakeKeptSmallBlock(nbytes);
  return block == nullptr ? nullptr : In(block, nbytes);
}

// What the last use of the block has left needs little to begin again.
inline Storage* Storage::In(SmallBlock* block, size_t nbytes) {
  static_assert(sizeof(Storage) <= sizeof(block->header));
  static_assert(std::is_trivially_destructible_v<Storage>);
  if (!block->has_header) [[unlikely]] {
    new (block->header) Storage(block);
    block->has_header = true;
  }
  auto* storage = std::launder(reinterpret_cast<Storage*>(block->header));
  storage->refs_.Restart();
  storage->nbytes_ = nbytes;
  return storage;
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

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_STORAGE_H_
