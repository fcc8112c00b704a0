// RuntimeApi: a GPU vendor's runtime as a struct of function pointers. The GPU backend is written
// once against it. devices/cuda, devices/rocm and devices/oneapi fill it from a library that they
// open at run time; tests/emulator fills it on the CPU.
//
//   RuntimeApi api = ...;                          // from a vendor's package
//   Result r = api.event_record(api.self, event, stream);
//   if (api.classify(api.self, r) == ResultClass::kOutOfMemory) ...
//
// Only C types; no vendor header. Every function takes `self` first, may be called on any thread,
// throws nothing, and returns a Result: the vendor's error number, 0 for success. Outputs are
// written only on success. Sizes and pitches are in bytes.
//
// Device: a function with a parameter `device` works on that device. Every other function works on
// the calling thread's current device, which the backend sets with push_device and restores with
// pop_device; streams, events and allocations that it is given belong to that device.
//
// A function marked "optional" is nullptr if the runtime lacks it. All others are set, even without
// a driver: the backend calls `load` first, and nothing else if that fails.

#ifndef DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_API_H_
#define DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_API_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

struct VendorTraits;  // vendor_traits.h

// A vendor's error number; 0 is success.
using Result = int32_t;

// The classes of errors that the backend treats differently.
enum class ResultClass : uint8_t {
  kOk,
  kNotReady,  // a query's answer: the work is not done yet
  kOutOfMemory,
  kInvalidValue,
  kInvalidHandle,  // a stream, event, module or device that does not exist (any more)
  kNotSupported,
  kNoDevice,
  kCaptureViolation,  // a call that an open capture forbids, or that broke the capture
  kPeerAlreadyEnabled,
  kShuttingDown,  // the driver is being unloaded; its memory is gone
  kOther,
};

struct DeviceInfo {
  char name[256];         // "NVIDIA H200"
  char architecture[64];  // "sm_90", "gfx90a"
  char pci_bus_id[32];    // "0000:3b:00.0"
  size_t total_bytes;
  int multiprocessors;
  bool has_pools;         // malloc_async and free_async work
  bool has_managed;       // malloc_managed works, and the host may use it while the device works
  bool maps_pinned_host;  // kernels may use a pinned host pointer as it is
};

enum class PointerKind : uint8_t { kUnknown, kPinnedHost, kDevice, kManaged };

struct PointerInfo {
  PointerKind kind;  // kUnknown: not this runtime's memory; ignore the other fields
  int device;        // that owns the memory, or that made pinned or managed memory
  void* base;        // of the allocation; nullptr where unknown
  size_t nbytes;     // of the allocation; 0 where unknown
};

struct PoolStats {
  size_t used_bytes;      // allocated by the program
  size_t reserved_bytes;  // held by the pool, used or not
};

enum class CaptureStatus : uint8_t { kNone, kActive, kInvalidated };

// Flags of event_create. Events never measure time, which would make recording slower.
inline constexpr unsigned kEventPlain = 0;
inline constexpr unsigned kEventInterprocess = 1;

// The vendor's handles.
using NativeEvent = void*;
using NativeModule = void*;
using NativeFunction = void*;

// A thread's capture mode. kRelaxed permits calls that another thread's capture in global mode
// would forbid. CUDA and HIP use these numbers.
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

// Size of an IPC handle in bytes, on CUDA and on HIP.
inline constexpr size_t kIpcHandleSize = 64;
struct IpcHandle {
  unsigned char bytes[kIpcHandleSize];
};

// Which kernels of devices/gpu/kernels an image has. Each set contains the one before it.
enum class KernelSet : uint8_t {
  kLinear,  // dovetail_copy_N and dovetail_fill_N, for N of 1, 2, 4, 8 and 16 bytes
  // And dovetail_copy_gathered_NxM, and dovetail_copy_tiled_N for N of 1, 2 and 4. Both tiled
  // dimensions are dense and have at least as many elements as a tile.
  kDenseTiles,
  kAll,  // of copies, casts, fills and progressions
};

// Compiled kernels for a device. They live as long as the process.
struct KernelImage {
  const void* data = nullptr;  // for module_load; nullptr: this device has no kernels
  size_t nbytes = 0;
  const char* reason = "";  // why there are none, for people
  KernelSet kernels = KernelSet::kAll;
};

struct RuntimeApi {
  void* self = nullptr;
  const VendorTraits* vendor = nullptr;

  // The vendor's handles of its default streams. legacy_stream waits for all blocking streams
  // (CUDA: 0x1, HIP: 0); Stream::Default is this stream. SYCL: 0, the current device's.
  NativeStream legacy_stream{};
  NativeStream per_thread_stream{};

  // -- Loading and describing. These work without a current device.

  // Opens the driver. A success is final. False: `reason` tells people why there are no devices; a
  // later call may succeed, once another package has loaded the driver.
  bool (*load)(void* self, std::string* reason) = nullptr;
  Result (*device_count)(void* self, int* count) = nullptr;
  // As the vendor numbers versions: CUDA's 12040 is 12.4, HIP's 50200000 is 5.2.
  Result (*runtime_version)(void* self, int* runtime, int* driver) = nullptr;
  Result (*device_info)(void* self, int device, DeviceInfo* info) = nullptr;
  ResultClass (*classify)(void* self, Result result) = nullptr;
  // The vendor's name and text for a result. The string lives as long as the process.
  const char* (*describe)(void* self, Result result) = nullptr;

  // Optional. The files of the driver that this process has loaded: the one in use, then other
  // copies, which don't know its handles and memory.
  void (*library_files)(void* self, std::vector<std::string>* files) = nullptr;

  // -- The current device. CUDA: the device's primary context, retained once and never released.

  // Makes `device` current on this thread. pop_device restores the previous device from
  // `*previous`. Neither does anything if `device` is current already.
  Result (*push_device)(void* self, int device, void** previous) = nullptr;
  Result (*pop_device)(void* self, void* previous) = nullptr;
  // Optional. The device that is current on this thread, whoever selected it; -1 if there is none.
  // Makes no context.
  Result (*current_device)(void* self, int* device) = nullptr;
  // Optional. Whether this process has used the device, by any library: false only if no work on it
  // can be pending. kNotSupported if the runtime can't tell. Makes no context.
  Result (*device_in_use)(void* self, int device, bool* in_use) = nullptr;

  // -- Memory, aligned to at least 256 bytes (managed and pinned memory: to a page).

  Result (*malloc_device)(void* self, size_t nbytes, void** ptr) = nullptr;
  // Frees memory of malloc_device and malloc_managed. Waits for the device.
  Result (*free_device)(void* self, void* ptr) = nullptr;
  // Allocates from the device's pool, in stream order. The pool is Dovetail's own if the runtime
  // can make one, so that its threshold and statistics concern no other library; else it is the
  // device's default pool. Optional, like all functions up to pool_allow_access
  // (DeviceInfo::has_pools).
  Result (*malloc_async)(void* self, size_t nbytes, NativeStream stream, void** ptr) = nullptr;
  Result (*free_async)(void* self, void* ptr, NativeStream stream) = nullptr;
  // Returns unused memory to the system, except for `keep` bytes.
  Result (*pool_trim)(void* self, int device, size_t keep) = nullptr;
  // The unused memory that the pool keeps at a synchronisation; SIZE_MAX: all.
  Result (*pool_set_release_threshold)(void* self, int device, size_t nbytes) = nullptr;
  Result (*pool_stats)(void* self, int device, PoolStats* stats) = nullptr;
  // Lets `peer` access the memory of `device`'s pool.
  Result (*pool_allow_access)(void* self, int device, int peer) = nullptr;
  // Pinned host memory that every device may access (portable, mapped).
  Result (*malloc_host)(void* self, size_t nbytes, void** ptr) = nullptr;
  Result (*free_host)(void* self, void* ptr) = nullptr;
  // Optional. All streams of the device may access it. Freed with free_device.
  Result (*malloc_managed)(void* self, size_t nbytes, void** ptr) = nullptr;
  // Of the current device. kNotSupported if the runtime can't tell.
  Result (*memory_info)(void* self, size_t* free_bytes, size_t* total_bytes) = nullptr;
  // What memory `ptr` points to; success with kUnknown for memory that the runtime does not know.
  // Needs no current device.
  Result (*pointer_info)(void* self, const void* ptr, PointerInfo* info) = nullptr;

  // -- Copies and fills, in stream order. Pointers are to memory of the current device, or to
  // pinned, managed or pageable host memory. With pageable memory the call may wait for the copy.

  Result (*copy_async)(void* self, void* dst, const void* src, size_t nbytes,
                       NativeStream stream) = nullptr;
  // Between two devices of the vendor, one of which is current. `stream` belongs to it.
  Result (*copy_peer_async)(void* self, void* dst, int dst_device, const void* src, int src_device,
                            size_t nbytes, NativeStream stream) = nullptr;
  // `height` rows of `width` bytes, `pitch` bytes from one row to the next, width <= pitch.
  Result (*copy_2d_async)(void* self, void* dst, size_t dst_pitch, const void* src,
                          size_t src_pitch, size_t width, size_t height,
                          NativeStream stream) = nullptr;
  // Sets `count` elements of `element_size` bytes (1, 2 or 4) to the low bytes of `pattern`. `dst`
  // is aligned to the element size.
  Result (*fill_async)(void* self, void* dst, uint32_t pattern, size_t element_size, size_t count,
                       NativeStream stream) = nullptr;

  // -- Streams.

  // Optional, for runtimes where each device has a default stream of its own. The handle of
  // `device`'s; it names the same stream as legacy_stream does on that device.
  Result (*default_stream)(void* self, int device, NativeStream* stream) = nullptr;
  // A non-blocking stream: the legacy stream does not wait for it.
  Result (*stream_create)(void* self, NativeStream* stream) = nullptr;
  Result (*stream_destroy)(void* self, NativeStream stream) = nullptr;
  // Optional. Keeps another library's stream alive until stream_destroy(*own), which is called once
  // for each hold. All holds of one stream give the same handle. A default stream is not held.
  Result (*stream_hold)(void* self, NativeStream stream, NativeStream* own) = nullptr;
  Result (*stream_query)(void* self, NativeStream stream) = nullptr;  // kNotReady: work is left
  Result (*stream_synchronize)(void* self, NativeStream stream) = nullptr;
  Result (*stream_wait_event)(void* self, NativeStream stream, NativeEvent event) = nullptr;
  // Never breaks a capture. kCaptureViolation for the legacy stream while a blocking stream is
  // being captured.
  Result (*stream_capture_status)(void* self, NativeStream stream, CaptureStatus* status) = nullptr;
  // Optional. The device of a stream. Needs no current device.
  Result (*stream_device)(void* self, NativeStream stream, int* device) = nullptr;
  // Optional. Sets this thread's capture mode to `*mode`, and `*mode` to the previous mode.
  Result (*exchange_capture_mode)(void* self, CaptureMode* mode) = nullptr;

  // -- Events.

  // Whether a NativeEvent is the vendor's own handle, as other libraries record it.
  bool has_vendor_events = true;
  Result (*event_create)(void* self, unsigned flags, NativeEvent* event) = nullptr;
  Result (*event_destroy)(void* self, NativeEvent event) = nullptr;
  Result (*event_record)(void* self, NativeEvent event, NativeStream stream) = nullptr;
  Result (*event_query)(void* self, NativeEvent event) = nullptr;  // kNotReady: not yet
  Result (*event_synchronize)(void* self, NativeEvent event) = nullptr;
  // Optional. Records an event after all work of the current device's context (CUDA 12.5).
  Result (*context_record_event)(void* self, NativeEvent event) = nullptr;
  Result (*device_synchronize)(void* self) = nullptr;

  // -- Peers.

  Result (*peer_can_access)(void* self, int device, int peer, bool* can) = nullptr;
  // Lets the current device access the memory of `peer`. kPeerAlreadyEnabled is harmless.
  Result (*peer_enable)(void* self, int peer) = nullptr;
  // Optional. Whether the devices that peer_enable and pool_allow_access gave access to `device`
  // reach its memory at `ptr`. False for memory of other libraries' pools and for mapped memory,
  // each of which has access rights of its own. Needs no current device.
  Result (*peers_reach)(void* self, const void* ptr, int device, bool* reach) = nullptr;

  // -- Kernels. Modules are loaded on the current device and never unloaded.

  KernelImage (*kernel_image)(void* self, int device) = nullptr;
  Result (*module_load)(void* self, const KernelImage* image, NativeModule* module) = nullptr;
  Result (*module_function)(void* self, NativeModule module, const char* name,
                            NativeFunction* function) = nullptr;
  // `args` points to one pointer per parameter of the kernel.
  Result (*launch)(void* self, NativeFunction function, const uint32_t grid[3],
                   const uint32_t block[3], uint32_t shared_bytes, NativeStream stream,
                   void** args) = nullptr;

  // -- Other processes. A handle names a whole allocation of malloc_device. Without
  // ipc_memory_handle all are absent, and the vendor's memory is not shared.

  Result (*ipc_memory_handle)(void* self, void* ptr, IpcHandle* handle) = nullptr;
  Result (*ipc_open)(void* self, const IpcHandle* handle, void** ptr) = nullptr;
  Result (*ipc_close)(void* self, void* ptr) = nullptr;
  // For an event made with kEventInterprocess.
  Result (*ipc_event_handle)(void* self, NativeEvent event, IpcHandle* handle) = nullptr;
  Result (*ipc_open_event)(void* self, const IpcHandle* handle, NativeEvent* event) = nullptr;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_RUNTIME_RUNTIME_API_H_
