// DeviceBackend: the plugin interface. A backend serves the device types of one vendor (its own
// memory, its pinned and its managed host memory): it allocates, copies and orders work on streams.
//
//   class MyBackend final : public DeviceBackend { ... };
//   absl::Status s = Registry::Global().Register(std::make_unique<MyBackend>());
//
// Construction opens nothing: a driver is loaded at the first call that needs it, so that import
// and fork stay clean. Every function may be called on any thread. An absent driver is a backend
// with a DeviceCount of 0 and a reason that a person can read.

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
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/core/uses.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// What a stream code of the array API's `__dlpack__(stream=)` asks of a producer.
struct StreamRequest {
  // The consumer's stream, whose later work must see the producer's; none: no synchronisation (-1).
  std::optional<Stream> stream;
};

// What is known of a pointer.
struct PointerAttributes {
  Device device;  // whose memory it is
  MemoryKind kind;
  void* base;     // the start of its allocation, or nullptr where that is unknown
  size_t nbytes;  // of the allocation; 0 where unknown
};

// Memory that other processes of the machine may open (interop/ipc).
struct MemoryShare {
  std::string name;            // what OpenMemory of the same backend takes there
  int64_t offset = 0;          // bytes from the start of what OpenMemory gives to the memory shared
  std::optional<Event> until;  // what the memory's uses have to note, so that it is not reused
                               // before it has happened; none: nothing
};

// Memory of another process.
struct OpenedMemory {
  void* data;
  size_t nbytes;
  Device device;
  std::optional<Event> ready;  // what the memory may be used after; none: it is ready
  Release release;             // gives it back; called as that of any memory that was lent
};

class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;

  // A short name for people, such as "cuda".
  virtual std::string_view name() const = 0;
  // The device types that this backend serves; the first is the device proper.
  virtual absl::Span<const DeviceType> device_types() const = 0;
  // How many devices there are. An error says why there are none: no driver, a driver too old.
  virtual absl::StatusOr<int> DeviceCount() = 0;

  // The allocator for `kind` of memory. It lives as long as the process. InvalidArgument when the
  // device has no memory of that kind, NotFound when there is no such device.
  virtual absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) = 0;
  // The names of the allocators that SelectAllocator takes, the default first.
  virtual std::vector<std::string> AllocatorNames(Device /*device*/, MemoryKind /*kind*/) {
    return {};
  }
  // What GetAllocator returns from now on; memory goes back to where it came from. InvalidArgument,
  // with the names, where there is no such allocator.
  virtual absl::Status SelectAllocator(Device device, MemoryKind kind, std::string_view name);
  // What device the memory of that kind is said to be on: pinned memory of cuda:1 is on cuda_host.
  virtual Device MemoryDevice(Device device, MemoryKind /*kind*/) { return device; }

  // A new stream, destroyed with its last copy.
  virtual absl::StatusOr<Stream> CreateStream(Device device) = 0;
  // What a code (nullopt: Python's None) means on the device; InvalidArgument where it is refused.
  virtual absl::StatusOr<StreamRequest> DecodeStream(Device device,
                                                     std::optional<int64_t> code) = 0;
  // The code that names `stream` to a producer; nullopt is Python's None.
  virtual absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream& stream) = 0;

  // An event after the work that `stream` holds now.
  virtual absl::StatusOr<Event> Record(const Stream& stream) = 0;
  // Later work of `stream` starts only after `event`. The host does not wait.
  virtual absl::Status Wait(const Stream& stream, const Event& event) = 0;
  // Later work of `consumer` starts only after the work in `uses`. The host does not wait, but for
  // work on devices of other backends.
  virtual absl::Status OrderBefore(Uses& uses, const Stream& consumer);
  // The same for an event that somebody else recorded: `event` is the address of the vendor's
  // handle (a cudaEvent_t*, a hipEvent_t*), read during the call alone. Unimplemented where there
  // are none.
  virtual absl::Status WaitForeign(const Stream& stream, const void* event);
  // Whether `event` has happened.
  virtual absl::StatusOr<bool> Query(const Event& event) = 0;
  // The host waits for `event`.
  virtual absl::Status HostWait(const Event& event);
  // The host waits for the work that `stream` holds.
  virtual absl::Status Synchronize(const Stream& stream) = 0;
  // Calls `release`, which gives lent memory back, once the work in `uses` is done. Must neither
  // block nor throw.
  virtual void ReleaseAfter(std::unique_ptr<Uses> uses, Release release) noexcept;

  // Copies the elements of `src` to `dst`, of one type and shape, any strides, that do not overlap;
  // a stride of 0 in `src` repeats an element. At least one is on this backend's devices, the other
  // there or host-accessible. Ordered on `stream`; the caller keeps both alive until then.
  virtual absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) = 0;

  // The same for elements of two types, cast as copy.h says. Unimplemented where the backend has no
  // casts of its own: the host then does the work.
  virtual absl::Status CastCopy(const TensorView& /*dst*/, const TensorView& /*src*/,
                                const Stream& /*stream*/) {
    return absl::UnimplementedError(absl::StrCat("The backend ", name(), " has no casts."));
  }

  // Lets other processes open the `nbytes` > 0 bytes at `data`, and what is around them in the same
  // allocation. They see the work that `stream` holds now. `uses`, which may be null, are those of
  // the memory so far: what was noted there by an earlier share is not asked for again.
  // FailedPrecondition, with the remedy, for memory that can't be shared; Unimplemented where there
  // is none that can.
  virtual absl::StatusOr<MemoryShare> ShareMemory(Device device, void* data, size_t nbytes,
                                                  const Uses* uses, const Stream& stream);
  // Opens what another process shared, or this one. `name` comes from outside and may say anything.
  // FailedPrecondition, with the reason, where there is no such memory (any more).
  virtual absl::StatusOr<OpenedMemory> OpenMemory(DeviceType type, std::string_view name);

  // Whose memory `data` points at. NotFound when it is none of this backend's.
  virtual absl::StatusOr<PointerAttributes> GetPointerAttributes(const void* data) = 0;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_DEVICE_BACKEND_H_
