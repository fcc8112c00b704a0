// Storage: one counted block of bytes, and how it is released.
//
//   StorageRef s = Storage::Adopt(data, nbytes, Device::Cpu(), {&FreeIt, context});
//   absl::StatusOr<StorageRef> t = Storage::Allocate(1024, Device::Cuda(0));
//
// Tensors share a Storage. The last reference releases it, on whichever thread drops it. Memory
// that a backend allocated returns to its allocator, ordered after the streams that used it.
// Borrowed memory is given back by a call of the Release that the lender gave, which must be safe
// to call on any thread. Whoever drops the last reference waits for work that is recorded on the
// memory of another backend, such as a GPU's on memory of the CPU.

#ifndef DOVETAIL_CORE_STORAGE_H_
#define DOVETAIL_CORE_STORAGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/internal/reference_count.h"
#include "dovetail/core/memory.h"
#include "dovetail/core/stream.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class Allocator;
class Storage;
class Uses;
namespace internal_storage {
class StorageAccess;
}  // namespace internal_storage

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

  // Takes over one reference, which Leak gave.
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

  // Borrowed memory: `release` is called once, when the last reference is dropped. `data` is the
  // lowest byte (or an opaque handle), `nbytes` the number of bytes from there.
  static StorageRef Adopt(void* data, size_t nbytes, Device device, Release release);

  // New memory from the allocator of the device's backend, ready for use on `stream` (by default
  // the current one). NotFound if no backend serves the device, ResourceExhausted if there is no
  // memory.
  static absl::StatusOr<StorageRef> Allocate(size_t nbytes, Device device,
                                             MemoryKind kind = MemoryKind::kDevice);
  static absl::StatusOr<StorageRef> Allocate(size_t nbytes, const Stream& stream,
                                             MemoryKind kind = MemoryKind::kDevice);

  void* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }

  // Records that work on this memory was enqueued on `stream`. The memory is not reused before that
  // work is done, and later users wait for it. If the stream may be destroyed earlier, an event is
  // recorded instead. Costs nothing for the CPU. Without memory for the record, the host waits.
  // Any thread.
  void RecordUse(const Stream& stream, UseKind kind = UseKind::kWork) noexcept;

  // Records work that is done once `event`, of any backend, has happened.
  void RecordUse(Event event) noexcept;

  // Gives a consumer access: later work on its stream starts after the work so far, and the memory
  // is not reused before its work is done. Without a stream nothing is ordered, and the consumer
  // may use any stream. The stream's handle is not used after the call. Any thread.
  absl::Status Share(const std::optional<Stream>& consumer);

  // Later work of `stream` starts after the work on this memory so far.
  absl::Status OrderBefore(const Stream& stream);

  // The host waits for the recorded work on this memory, which excludes what consumers enqueue.
  absl::Status Synchronize();

  // The streams with recorded work on this memory, or that waited for it. None on the CPU.
  absl::InlinedVector<Stream, 2> used_on() const;
  // The recorded work; nullptr if there was none.
  const Uses* uses() const { return uses_.load(std::memory_order_acquire); }

  // What is called at the end of borrowed memory; a null function for any other.
  Release release() const { return owner_ == Owner::kLender ? release_ : Release{}; }

  // The number of references. 1 means that nobody else can see the memory.
  int64_t use_count() const { return refs_.value(); }

 private:
  friend class StorageRef;
  friend class internal_storage::StorageAccess;
  // Who gets the memory back at the end.
  enum class Owner : uint8_t {
    kLender,      // the lender, by a call of release_ (unless that is null)
    kAllocator,   // allocator_
    kSmallBlock,  // this thread's small blocks; the Storage lies in the block's own header
  };

  Storage(void* data, size_t nbytes, Device device, Release release)
      : data_(data), nbytes_(nbytes), device_(device), release_(release) {}
  static absl::StatusOr<StorageRef> AllocateOn(size_t nbytes, Device device, const Stream& stream,
                                               MemoryKind kind);
  // `device` is the memory's.
  static absl::StatusOr<StorageRef> AllocateFrom(Allocator& allocator, size_t nbytes, Device device,
                                                 const Stream& stream);
  void Destroy() noexcept;
  void DestroyUnkept() noexcept;
  bool GiveBackAfterUses() noexcept;
  template <typename Record, typename Await>
  void RecordOrAwait(Record record, Await await) noexcept;
  Uses* GetUses();
  static absl::Status SynchronizeAll(const Uses& uses);

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

inline void StorageRef::Ref() {
  if (ptr_ != nullptr) ptr_->refs_.Add();
}

inline void StorageRef::Unref() noexcept {
  if (ptr_ != nullptr && ptr_->refs_.Drop()) ptr_->Destroy();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_STORAGE_H_
