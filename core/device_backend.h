// DeviceBackend: the plugin interface. A backend serves the device types of one vendor (its own
// memory, its pinned and its managed host memory): it allocates, copies and orders work on streams.
//
//   class MyBackend final : public DeviceBackend { ... };
//   absl::Status s = Registry::Global().Register(std::make_unique<MyBackend>());
//
// Construction opens nothing. The first call that needs the driver loads it, which keeps import and
// fork free of side effects. Every function may be called on any thread. A backend without its
// driver has no devices, and DeviceCount says why in plain words.

#ifndef DOVETAIL_CORE_DEVICE_BACKEND_H_
#define DOVETAIL_CORE_DEVICE_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/memory_source.h"
#include "dovetail/core/progression.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/core/uses.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The meaning of a stream code in the array API's `__dlpack__(stream=)`.
struct StreamRequest {
  // The consumer's stream. Its later work must see the producer's work. nullopt: no synchronisation
  // (-1).
  std::optional<Stream> stream = {};
  // The consumer may read on the host, or on a stream that is unknown: the host waits for the
  // producer's work before it hands the memory over. `stream` stands for the consumer's.
  bool host_waits = false;
};

// What a backend knows about a pointer.
struct PointerAttributes {
  Device device = {};  // that the memory belongs to
  MemoryKind kind = MemoryKind::kDevice;
  void* base = nullptr;  // the start of the allocation; nullptr if unknown
  size_t nbytes = 0;     // of the allocation; 0 if unknown
};

// Memory that other processes of the machine may open (interop/ipc).
struct MemoryShare {
  std::string name = {};  // the argument of OpenMemory in the other process
  int64_t offset = 0;     // bytes from the start of the opened memory to the shared memory
  std::optional<Event> until = {};  // if set, the caller records it in the memory's uses: the
                                    // memory is not reused before this event has completed
};

// Memory of another process.
struct OpenedMemory {
  void* data = nullptr;
  size_t nbytes = 0;
  Device device = {};
  std::optional<Event> ready = {};  // the memory may be used after it; nullopt: at once
  Release release = {};  // gives the memory back, like the release of any borrowed memory
};

class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;

  // A short name for people, such as "cuda".
  virtual std::string_view name() const = 0;
  // The device types that this backend serves; the first is the device itself rather than its host
  // memory.
  virtual absl::Span<const DeviceType> device_types() const = 0;
  // Whether `type` is one of these. Streams and events of other types belong to other backends.
  bool Serves(DeviceType type) const;
  // The number of devices. An error says why there are none: no driver, or one that is too old.
  virtual absl::StatusOr<int> DeviceCount() = 0;
  // The files of the driver's library, for people: the one in use, then other copies that this
  // process has loaded, which don't know its handles and memory. Empty if unknown or without
  // devices.
  virtual std::vector<std::string> LibraryFiles() { return {}; }

  // The backend's own allocator for memory of `kind`; new memory comes from the one that
  // Registry::GetAllocator returns. It lives as long as the process. InvalidArgument if the device
  // has no memory of that kind, NotFound if there is no such device.
  virtual absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) = 0;
  // The names of the allocators that SelectAllocator accepts. The default is first.
  virtual std::vector<std::string> AllocatorNames(Device /*device*/, MemoryKind /*kind*/) {
    return {};
  }
  // Selects the allocator that GetAllocator returns from now on. Existing memory still returns to
  // the allocator that it came from. InvalidArgument, with the names, if there is no such
  // allocator.
  virtual absl::Status SelectAllocator(Device device, MemoryKind kind, std::string_view name);
  // A new allocator whose memory `source` gives, for Registry::SetMemorySource. `source` outlives
  // it, and the backend must not call `source` with a lock held. The errors of GetAllocator. The
  // default returns memory through ReleaseAfter.
  virtual absl::StatusOr<std::unique_ptr<Allocator>> MakeAllocator(Device device, MemoryKind kind,
                                                                   MemorySource& source);
  // The device that is reported for memory of `kind`: pinned memory of cuda:1 is on cuda_host.
  virtual Device MemoryDevice(Device device, MemoryKind /*kind*/) { return device; }

  // A new stream. It is destroyed with its last copy.
  virtual absl::StatusOr<Stream> CreateStream(Device device) = 0;
  // The meaning of a stream code on the device; nullopt is Python's None. InvalidArgument if the
  // device does not accept the code.
  virtual absl::StatusOr<StreamRequest> DecodeStream(Device device,
                                                     std::optional<int64_t> code) = 0;
  // The code that names `stream` to a producer; nullopt is Python's None.
  virtual absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream& stream) = 0;

  // Records an event after the work that was enqueued on `stream` so far.
  virtual absl::StatusOr<Event> Record(const Stream& stream) = 0;
  // Later work on `stream` starts only after `event`, which this backend recorded, has completed.
  // The host does not wait. (Dovetail's own backends have the host wait for an event of another.)
  virtual absl::Status Wait(const Stream& stream, const Event& event) = 0;
  // Later work on `consumer` starts only after the work in `uses`. The host does not wait, except
  // for work on devices of other backends.
  virtual absl::Status OrderBefore(Uses& uses, const Stream& consumer);
  // Like Wait, for an event that another library recorded. `event` is the address of the vendor's
  // handle (a cudaEvent_t* or hipEvent_t*) and is read only during the call. Unimplemented if the
  // backend has no such events.
  virtual absl::Status WaitForeign(const Stream& stream, const void* event);
  // Whether `event` has completed.
  virtual absl::StatusOr<bool> Query(const Event& event) = 0;
  // Blocks the host until `event` has completed.
  virtual absl::Status HostWait(const Event& event);
  // Blocks the host until the work that was enqueued on `stream` is done.
  virtual absl::Status Synchronize(const Stream& stream) = 0;
  // Calls `release`, which gives borrowed memory back, once the work in `uses` is done, all of
  // which is this backend's. Must not throw. The default blocks until the streams' work is done and
  // the events have completed; unknown work (Uses::has_unknown) it can't wait for.
  virtual void ReleaseAfter(std::unique_ptr<Uses> uses, Release release) noexcept;

  // Copies the elements of `src` to `dst`. The two have the same type and shape, any strides, and
  // do not overlap. A stride of 0 in `src` repeats an element. At least one of the two is on this
  // backend's devices; the other is there, too, or is host-accessible. The copy is ordered on
  // `stream`. The caller keeps both alive until it is done.
  virtual absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) = 0;

  // Like Copy, for two different types. copy.h has the rules of casts. Unimplemented if the backend
  // does not cast these types, or not between these devices; CopyInto then copies the elements to
  // another device first, or casts on the host. Called with views without elements, it only tells
  // whether the backend casts these types on their device: OK or Unimplemented.
  virtual absl::Status CastCopy(const TensorView& /*dst*/, const TensorView& /*src*/,
                                const Stream& /*stream*/) {
    return absl::UnimplementedError(absl::StrCat("The backend ", name(), " has no casts."));
  }

  // Sets every element of `dst`, which is on one of this backend's devices, to the one at
  // `element`: host memory that is read before the call returns. The fill is ordered on `stream`.
  // Unimplemented if the backend has no such fill; Copy then repeats the element, and the host
  // waits for it.
  virtual absl::Status Fill(const TensorView& /*dst*/, const void* /*element*/,
                            const Stream& /*stream*/) {
    return absl::UnimplementedError(absl::StrCat("The backend ", name(), " has no fills."));
  }

  // Sets element i of `dst`, which is contiguous and on one of this backend's devices, to number i
  // of the progression, as a cast does. Ordered on `stream`. Unimplemented if the backend does not
  // write such numbers; they are then copied from the host.
  virtual absl::Status Arange(const TensorView& /*dst*/, const Progression& /*numbers*/,
                              const Stream& /*stream*/) {
    return absl::UnimplementedError(absl::StrCat("The backend ", name(), " makes no numbers."));
  }

  // Lets other processes open the `nbytes` > 0 bytes at `data`, along with the rest of the same
  // allocation. They see the work that was enqueued on `stream` so far. `uses` has the uses of the
  // memory so far and may be nullptr; an event that an earlier share recorded there is not returned
  // again. FailedPrecondition, with the remedy, if this memory can't be shared. Unimplemented if
  // the backend can't share any memory.
  virtual absl::StatusOr<MemoryShare> ShareMemory(Device device, void* data, size_t nbytes,
                                                  const Uses* uses, const Stream& stream);
  // Opens memory that another process, or this one, shared. `name` comes from outside and may be
  // any text. FailedPrecondition, with the reason, if the memory does not exist (any more).
  virtual absl::StatusOr<OpenedMemory> OpenMemory(DeviceType type, std::string_view name);

  // The attributes of the memory that `data` points to. NotFound if the memory does not belong to
  // this backend.
  virtual absl::StatusOr<PointerAttributes> GetPointerAttributes(const void* data) = 0;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_DEVICE_BACKEND_H_
