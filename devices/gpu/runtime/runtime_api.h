// RuntimeApi: what a GPU vendor's runtime can do, as a struct of function pointers. The GPU backend
// is written once against it; devices/cuda and devices/rocm fill one from the driver's library that
// they open at run time, and tests/emulator fills one on the CPU.
//
//   RuntimeApi api = ...;                          // from a vendor's package
//   Result r = api.event_record(api.self, event, stream);
//   if (api.classify(api.self, r) == ResultClass::kOutOfMemory) ...
//
// Plain C types alone; no vendor header. Every function takes `self` first, may be called on any
// thread, throws nothing, and returns a Result: the vendor's own error number, 0 for success. What
// comes back through pointers is written on success alone. Sizes and pitches are in bytes.
//
// Device: functions that take a `device` work on that one. The others work on the current device of
// the calling thread, which the backend sets by push_device and puts back by pop_device; a stream,
// an event or an allocation given to them belongs to that device.
//
// Functions marked "optional" are nullptr where a runtime lacks them. All others are set, even
// where no driver was found: `load` is called first, and where it fails nothing else is.

#ifndef DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_API_H_
#define DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

struct VendorTraits;  // vendor_traits.h

// A vendor's error number; 0 is success.
using Result = int32_t;

// What the backend has to tell apart.
enum class ResultClass : uint8_t {
  kOk,
  kNotReady,  // of a query: the work is not done yet
  kOutOfMemory,
  kInvalidValue,
  kInvalidHandle,  // of a stream, event, module or device that isn't there (any more)
  kNotSupported,
  kNoDevice,
  kCaptureViolation,  // a call that an open capture forbids, or that broke the capture
  kPeerAlreadyEnabled,
  kShuttingDown,  // the driver is being unloaded; what it held is gone
  kOther,
};

struct DeviceInfo {
  char name[256];         // "NVIDIA H200"
  char architecture[64];  // "sm_90", "gfx90a"
  char pci_bus_id[32];    // "0000:3b:00.0"
  size_t total_bytes;
  int multiprocessors;
  bool has_pools;         // malloc_async and free_async work
  bool has_managed;       // malloc_managed works, and the host may touch it while the device works
  bool maps_pinned_host;  // kernels may use a pinned host pointer as it is
};

enum class PointerKind : uint8_t { kUnknown, kPinnedHost, kDevice, kManaged };

struct PointerInfo {
  PointerKind kind;  // kUnknown: no memory of this runtime; the other fields mean nothing then
  int device;        // whose memory; of pinned and managed memory, whose it was made by
  void* base;        // of the allocation; nullptr where unknown
  size_t nbytes;     // of the allocation; 0 where unknown
};

struct PoolStats {
  size_t used_bytes;      // that the program has now
  size_t reserved_bytes;  // that the pool holds, used or not
};

enum class CaptureStatus : uint8_t { kNone, kActive, kInvalidated };

// Bits of event_create's flags. Events never take time: that makes recording slower.
inline constexpr unsigned kEventPlain = 0;
inline constexpr unsigned kEventInterprocess = 1;

// Handles of the vendor's.
using NativeEvent = void*;
using NativeModule = void*;
using NativeFunction = void*;

// A thread's capture mode: kRelaxed lets calls through that a capture of another thread, opened in
// global mode, would forbid. The numbers are the vendors' (both have the same).
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

// Bytes of the vendors' IPC handles (both have the same).
inline constexpr size_t kIpcHandleSize = 64;
struct IpcHandle {
  unsigned char bytes[kIpcHandleSize];
};

// Compiled kernels for a device; they live as long as the process.
struct KernelImage {
  const void* data = nullptr;  // what module_load takes; nullptr: there are none for this device
  size_t nbytes = 0;
  const char* reason = "";  // why there are none, for people
};

struct RuntimeApi {
  void* self = nullptr;
  const VendorTraits* vendor = nullptr;

  // The vendor's handles of the default streams, as its functions take them. legacy_stream is the
  // one that waits for all blocking streams (CUDA: 0x1, HIP: 0); Stream::Default means it.
  NativeStream legacy_stream{};
  NativeStream per_thread_stream{};

  // -- Loading and describing. Those of this part work without a current device.

  // Opens the driver at the first call and remembers the outcome. False: `reason` says to people
  // why there are no devices. Any thread.
  bool (*load)(void* self, std::string* reason) = nullptr;
  Result (*device_count)(void* self, int* count) = nullptr;
  // As the vendor numbers them: CUDA 12040 is 12.4; HIP 50200000 and more is 5.2.
  Result (*runtime_version)(void* self, int* runtime, int* driver) = nullptr;
  Result (*device_info)(void* self, int device, DeviceInfo* info) = nullptr;
  ResultClass (*classify)(void* self, Result result) = nullptr;
  // The vendor's name and text of a result; lives as long as the process.
  const char* (*describe)(void* self, Result result) = nullptr;

  // -- The current device. CUDA: the device's primary context, retained once and never released.

  // Makes `device` current on this thread. `*previous` is what pop_device needs to put back what
  // was current before; nothing is done by either when it is current already.
  Result (*push_device)(void* self, int device, void** previous) = nullptr;
  Result (*pop_device)(void* self, void* previous) = nullptr;

  // -- Memory, aligned to 256 bytes at least (managed and pinned memory: to the page).

  Result (*malloc_device)(void* self, size_t nbytes, void** ptr) = nullptr;
  // Frees what malloc_device and malloc_managed gave. Waits for the device.
  Result (*free_device)(void* self, void* ptr) = nullptr;
  // From the device's pool, in the order of `stream`. The pool is this library's own where the
  // runtime can make one, so that threshold and statistics are ours alone; else the default one.
  // Optional, all that follow up to pool_allow_access: DeviceInfo::has_pools says so per device.
  Result (*malloc_async)(void* self, size_t nbytes, NativeStream stream, void** ptr) = nullptr;
  Result (*free_async)(void* self, void* ptr, NativeStream stream) = nullptr;
  // Gives unused memory back to the system, but for `keep` bytes.
  Result (*pool_trim)(void* self, int device, size_t keep) = nullptr;
  // How much unused memory the pool keeps at a synchronisation; SIZE_MAX: all.
  Result (*pool_set_release_threshold)(void* self, int device, size_t nbytes) = nullptr;
  Result (*pool_stats)(void* self, int device, PoolStats* stats) = nullptr;
  // Lets `peer` reach the memory of `device`'s pool.
  Result (*pool_allow_access)(void* self, int device, int peer) = nullptr;
  // Pinned host memory that every device may reach (portable, mapped).
  Result (*malloc_host)(void* self, size_t nbytes, void** ptr) = nullptr;
  Result (*free_host)(void* self, void* ptr) = nullptr;
  // Optional. Reached by all streams of the device; freed by free_device.
  Result (*malloc_managed)(void* self, size_t nbytes, void** ptr) = nullptr;
  // Of the current device.
  Result (*memory_info)(void* self, size_t* free_bytes, size_t* total_bytes) = nullptr;
  // Whose memory `ptr` is; kUnknown, and success, for memory of nobody's. No current device needed.
  Result (*pointer_info)(void* self, const void* ptr, PointerInfo* info) = nullptr;

  // -- Copies and fills, in the order of `stream`. Pointers: of the current device, pinned, managed
  // or plain host memory. With plain host memory the call may wait for the copy.

  Result (*copy_async)(void* self, void* dst, const void* src, size_t nbytes,
                       NativeStream stream) = nullptr;
  // Between two devices of the vendor; `stream` is of the current device, which is one of them.
  Result (*copy_peer_async)(void* self, void* dst, int dst_device, const void* src, int src_device,
                            size_t nbytes, NativeStream stream) = nullptr;
  // `height` rows of `width` bytes, `pitch` bytes from one row to the next, width <= pitch.
  Result (*copy_2d_async)(void* self, void* dst, size_t dst_pitch, const void* src,
                          size_t src_pitch, size_t width, size_t height,
                          NativeStream stream) = nullptr;
  // Sets `count` elements of `element_size` bytes (1, 2 or 4), aligned to it, to the low bytes of
  // `pattern`.
  Result (*fill_async)(void* self, void* dst, uint32_t pattern, size_t element_size, size_t count,
                       NativeStream stream) = nullptr;

  // -- Streams.

  // One that the legacy stream does not wait for (non-blocking).
  Result (*stream_create)(void* self, NativeStream* stream) = nullptr;
  Result (*stream_destroy)(void* self, NativeStream stream) = nullptr;
  Result (*stream_query)(void* self, NativeStream stream) = nullptr;  // kNotReady: work is left
  Result (*stream_synchronize)(void* self, NativeStream stream) = nullptr;
  Result (*stream_wait_event)(void* self, NativeStream stream, NativeEvent event) = nullptr;
  // Never breaks a capture. Asked of the legacy stream while a blocking stream captures it is
  // kCaptureViolation.
  Result (*stream_capture_status)(void* self, NativeStream stream, CaptureStatus* status) = nullptr;
  // Optional: whose stream it is. No current device needed.
  Result (*stream_device)(void* self, NativeStream stream, int* device) = nullptr;
  // Optional: sets this thread's capture mode to `*mode`, and `*mode` to what it was.
  Result (*exchange_capture_mode)(void* self, CaptureMode* mode) = nullptr;

  // -- Events.

  Result (*event_create)(void* self, unsigned flags, NativeEvent* event) = nullptr;
  Result (*event_destroy)(void* self, NativeEvent event) = nullptr;
  Result (*event_record)(void* self, NativeEvent event, NativeStream stream) = nullptr;
  Result (*event_query)(void* self, NativeEvent event) = nullptr;  // kNotReady: not yet
  Result (*event_synchronize)(void* self, NativeEvent event) = nullptr;
  // Optional: an event after all work that the current device's context holds now (CUDA 12.5).
  Result (*context_record_event)(void* self, NativeEvent event) = nullptr;
  Result (*device_synchronize)(void* self) = nullptr;

  // -- Peers.

  Result (*peer_can_access)(void* self, int device, int peer, bool* can) = nullptr;
  // Lets the current device reach the memory of `peer`; kPeerAlreadyEnabled does no harm.
  Result (*peer_enable)(void* self, int peer) = nullptr;

  // -- Kernels. Modules are loaded on the current device and kept.

  KernelImage (*kernel_image)(void* self, int device) = nullptr;
  Result (*module_load)(void* self, const KernelImage* image, NativeModule* module) = nullptr;
  Result (*module_function)(void* self, NativeModule module, const char* name,
                            NativeFunction* function) = nullptr;
  // `args` points at one pointer for each parameter of the kernel.
  Result (*launch)(void* self, NativeFunction function, const uint32_t grid[3],
                   const uint32_t block[3], uint32_t shared_bytes, NativeStream stream,
                   void** args) = nullptr;

  // -- Other processes. A handle names a whole allocation of malloc_device's, and its base.

  Result (*ipc_memory_handle)(void* self, void* ptr, IpcHandle* handle) = nullptr;
  Result (*ipc_open)(void* self, const IpcHandle* handle, void** ptr) = nullptr;
  Result (*ipc_close)(void* self, void* ptr) = nullptr;
  // Of an event made with kEventInterprocess.
  Result (*ipc_event_handle)(void* self, NativeEvent event, IpcHandle* handle) = nullptr;
  Result (*ipc_open_event)(void* self, const IpcHandle* handle, NativeEvent* event) = nullptr;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_API_H_
