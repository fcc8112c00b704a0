// The functions of RuntimeApi, each a few steps of Impl's.

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/host_run.h"
#include "dovetail/devices/gpu/kernels/kernel_table.h"
#include "dovetail/tests/emulator/impl.h"

namespace dovetail::inline DOVETAIL_ABI::emulator {
namespace {

using Impl = Emulator::Impl;
using gpu::NativeEvent;
using gpu::NativeFunction;
using gpu::NativeModule;

// One call: alone, counted, and with streams that go ahead before it.
class Call {
 public:
  explicit Call(void* self) : impl_(*static_cast<Impl*>(self)), lock_(impl_.mutex) {
    ++impl_.counts.total;
    if (impl_.options.seed != 0) impl_.queues.LetGoAhead();
  }
  Impl* operator->() { return &impl_; }
  Impl& operator*() { return impl_; }

 private:
  Impl& impl_;
  std::lock_guard<std::recursive_mutex> lock_;
};

EmulatedEvent* AsEvent(NativeEvent event) { return static_cast<EmulatedEvent*>(event); }

// ---- Loading and describing ----

bool Load(void* self, std::string* reason) {
  Call call(self);
  *reason = call->options.missing_driver;
  return reason->empty();
}
Result DeviceCount(void* self, int* count) {
  *count = Call(self)->options.devices;
  return kOk;
}
Result RuntimeVersion(void* self, int* runtime, int* driver) {
  *runtime = *driver = Call(self)->options.runtime_version;
  return kOk;
}
Result GetDeviceInfo(void* self, int device, gpu::DeviceInfo* info) {
  Call call(self);
  const EmulatorOptions& o = call->options;
  if (device < 0 || device >= o.devices) return Code(ResultClass::kNoDevice);
  *info = {};
  std::snprintf(info->name, sizeof info->name, "emulated %s device %d",
                std::string(o.vendor->product).c_str(), device);
  std::snprintf(info->architecture, sizeof info->architecture, "%s",
                o.vendor->device == DeviceType::kCuda ? "sm_90" : "gfx90a");
  std::snprintf(info->pci_bus_id, sizeof info->pci_bus_id, "0000:%02x:00.0", device);
  info->total_bytes = o.device_bytes;
  info->multiprocessors = 1;
  info->has_pools = o.has_pools;
  info->has_managed = o.has_managed;
  info->maps_pinned_host = true;
  return kOk;
}
ResultClass Classify(void*, Result result) { return static_cast<ResultClass>(result); }
const char* Describe(void*, Result result) {
  switch (static_cast<ResultClass>(result)) {
    case ResultClass::kOk:
      return "EMULATOR_SUCCESS (no error)";
    case ResultClass::kNotReady:
      return "EMULATOR_NOT_READY (not ready)";
    case ResultClass::kOutOfMemory:
      return "EMULATOR_OUT_OF_MEMORY (out of memory)";
    case ResultClass::kInvalidValue:
      return "EMULATOR_INVALID_VALUE (invalid value)";
    case ResultClass::kInvalidHandle:
      return "EMULATOR_INVALID_HANDLE (invalid handle)";
    case ResultClass::kNotSupported:
      return "EMULATOR_NOT_SUPPORTED (not supported)";
    case ResultClass::kNoDevice:
      return "EMULATOR_NO_DEVICE (no such device)";
    case ResultClass::kCaptureViolation:
      return "EMULATOR_CAPTURE (forbidden while capturing)";
    case ResultClass::kPeerAlreadyEnabled:
      return "EMULATOR_PEER_ENABLED (enabled already)";
    case ResultClass::kShuttingDown:
      return "EMULATOR_SHUTTING_DOWN (shutting down)";
    case ResultClass::kOther:
      break;
  }
  return "EMULATOR_OTHER (another error)";
}

// ---- The current device ----

Result PushDevice(void* self, int device, void** previous) {
  Call call(self);
  if (device < 0 || device >= call->options.devices) return Code(ResultClass::kNoDevice);
  *previous = reinterpret_cast<void*>(static_cast<intptr_t>(call->current()));
  call->currents[std::this_thread::get_id()] = device;
  return kOk;
}
Result PopDevice(void* self, void* previous) {
  Call call(self);
  call->currents[std::this_thread::get_id()] =
      static_cast<int>(reinterpret_cast<intptr_t>(previous));
  return kOk;
}

// ---- Memory ----

template <PointerKind kKind>
Result Malloc(void* self, size_t nbytes, void** data) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  return call->Allocate(kKind, device, nbytes, data);
}
Result FreeDevice(void* self, void* data) { return Call(self)->FreeNow(data, /*host=*/false); }
Result FreeHost(void* self, void* data) { return Call(self)->FreeNow(data, /*host=*/true); }
Result MallocAsync(void* self, size_t nbytes, NativeStream stream, void** data) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result : call->AllocateFromPool(queue, nbytes, data);
}
Result FreeAsync(void* self, void* data, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result : call->FreeToPool(queue, data);
}
Result PoolTrim(void* self, int device, size_t keep) {
  Call(self)->TrimPool(device, keep);
  return kOk;
}
Result PoolSetReleaseThreshold(void* self, int device, size_t nbytes) {
  Call(self)->keep_in_pool[device] = nbytes;
  return kOk;
}
Result PoolGetStats(void* self, int device, gpu::PoolStats* stats) {
  Call call(self);
  *stats = {call->pool_used[device], call->pool_used[device]};
  for (const PoolBlock& block : call->pools[device]) stats->reserved_bytes += block.size;
  return kOk;
}
Result PoolAllowAccess(void* self, int device, int peer) {
  Call(self)->peers.insert({peer, device});
  return kOk;
}
Result MemoryInfo(void* self, size_t* free_bytes, size_t* total_bytes) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  *free_bytes = call->memory[device]->free_bytes();
  *total_bytes = call->options.device_bytes;
  return kOk;
}
Result GetPointerInfo(void* self, const void* ptr, gpu::PointerInfo* info) {
  Call call(self);
  *info = {};
  const std::shared_ptr<Allocation> a = call->FindAllocation(ptr);
  if (a != nullptr && a->live && !a->freeing) *info = {a->kind, a->device, a->base, a->size};
  return kOk;
}

// ---- Copies and fills ----

Result CopyAsync(void* self, void* dst, const void* src, size_t nbytes, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result : call->Copy(queue, dst, src, nbytes, nbytes, nbytes, 1, false);
}
Result CopyPeerAsync(void* self, void* dst, int dst_device, const void* src, int src_device,
                     size_t nbytes, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  const std::shared_ptr<Allocation> to = call->FindAllocation(dst);
  const std::shared_ptr<Allocation> from = call->FindAllocation(src);
  if (to == nullptr || from == nullptr || to->device != dst_device || from->device != src_device) {
    call->Complain("A peer copy was called with memory of other devices than it says.");
    return Code(ResultClass::kInvalidValue);
  }
  return call->Copy(queue, dst, src, nbytes, nbytes, nbytes, 1, true);
}
Result Copy2dAsync(void* self, void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                   size_t width, size_t height, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result
                          : call->Copy(queue, dst, src, dst_pitch, src_pitch, width, height, false);
}
Result FillAsync(void* self, void* dst, uint32_t pattern, size_t element_size, size_t count,
                 NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  if ((element_size != 1 && element_size != 2 && element_size != 4) ||
      reinterpret_cast<uintptr_t>(dst) % element_size != 0) {
    return Code(ResultClass::kInvalidValue);
  }
  Access access;
  result = call->Resolve(dst, element_size * count, queue->device, false, "A fill", &access);
  if (result == kOk && access.is_host()) {
    call->Complain("A fill of memory that is none of the device's.");
    result = Code(ResultClass::kInvalidValue);
  }
  if (result != kOk) return result;
  return call->Add(queue, call->Checked(access, {}, "A fill", [=](void* d, const void*) {
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(d) + i * element_size, &pattern, element_size);
    }
  }));
}

// ---- Streams ----

Result StreamCreate(void* self, NativeStream* stream) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  Queue* queue = call->queues.Make(device, /*blocking=*/false);
  call->by_handle[queue->handle] = queue;
  *stream = NativeStream{queue->handle};
  return kOk;
}
Result StreamDestroy(void* self, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue != nullptr) queue->destroyed = true;
  return result;
}
Result CheckAsk(Call& call, Queue* queue, const char* what) {
  if (queue->graph != nullptr) {
    call->BreakCaptures(queue->device, what);
    return Code(ResultClass::kCaptureViolation);
  }
  return call->CheckLegacy(queue);
}
// Whether all has been done, or is done now since it was asked for often enough.
bool IsDoneOrPatient(Call& call, const Points& points, int* asked) {
  bool done = true;
  for (const Point& point : points) done = done && call->queues.IsDone(point);
  if (done) return true;
  if (++*asked <= call->options.patience) return false;
  *asked = 0;
  call->queues.RunTo(points);
  return true;
}
Result StreamQuery(void* self, NativeStream stream) {
  Call call(self);
  ++call->counts.stream_queries;
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  if (result = CheckAsk(call, queue, "asking a captured stream"); result != kOk) return result;
  return IsDoneOrPatient(call, call->PointsNow(queue), &queue->asked)
             ? kOk
             : Code(ResultClass::kNotReady);
}
Result StreamSynchronize(void* self, NativeStream stream) {
  Call call(self);
  ++call->counts.host_waits;
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  if (result = CheckAsk(call, queue, "waiting for a captured stream"); result != kOk) {
    return result;
  }
  call->queues.RunTo(call->PointsNow(queue));
  return kOk;
}
Result StreamWaitEvent(void* self, NativeStream stream, NativeEvent native) {
  Call call(self);
  ++call->counts.stream_waits;
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  EmulatedEvent* event = AsEvent(native);
  if (result = call->CheckEvent(event, "A wait"); result != kOk) return result;
  if (call->has(Fault::kIgnoreWaits)) return kOk;
  if (event->graph != nullptr) {
    queue->graph = event->graph;  // joins the capture
    return kOk;
  }
  if (queue->graph != nullptr) {
    call->BreakCaptures(queue->device, "a wait for work outside of it");
    return Code(ResultClass::kCaptureViolation);
  }
  return call->Add(queue, nullptr, event->points);
}
Result StreamCaptureStatus(void* self, NativeStream stream, gpu::CaptureStatus* status) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  *status = queue->graph == nullptr     ? gpu::CaptureStatus::kNone
            : queue->graph->invalidated ? gpu::CaptureStatus::kInvalidated
                                        : gpu::CaptureStatus::kActive;
  return kOk;
}
Result StreamDevice(void* self, NativeStream stream, int* device) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue != nullptr) *device = queue->device;
  return result;
}
Result ExchangeCaptureMode(void* self, gpu::CaptureMode* mode) {
  Call call(self);
  std::swap(call->modes[std::this_thread::get_id()], *mode);
  return kOk;
}

// ---- Events ----

Result EventCreate(void* self, unsigned flags, NativeEvent* event) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  ++call->counts.event_creates;
  call->events.push_back(std::make_unique<EmulatedEvent>());
  call->events.back()->device = device;
  call->events.back()->interprocess = (flags & gpu::kEventInterprocess) != 0;
  *event = call->events.back().get();
  return kOk;
}
Result EventDestroy(void* self, NativeEvent event) {
  Call call(self);
  const Result r = call->CheckEvent(AsEvent(event), "A destruction");
  if (r == kOk) AsEvent(event)->destroyed = true;
  return r;
}
Result EventRecord(void* self, NativeEvent native, NativeStream stream) {
  Call call(self);
  ++call->counts.event_records;
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = call->CheckEvent(event, "A record"); r != kOk) return r;
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  if (event->device != queue->device) {
    call->Complain("An event was recorded on a stream of another device.");
    return Code(ResultClass::kInvalidHandle);
  }
  if (result = call->CheckLegacy(queue); result != kOk) return result;
  event->graph = queue->graph;
  event->asked = 0;
  event->points = call->has(Fault::kEventsHappenEarly) ? Points{} : call->PointsNow(queue);
  return kOk;
}
Result ContextRecordEvent(void* self, NativeEvent native) {
  Call call(self);
  ++call->counts.context_event_records;
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = call->CheckEvent(event, "A record"); r != kOk) return r;
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  if (call->AnyCapture(device)) {
    call->BreakCaptures(device, "an event over the device's whole work");
    return Code(ResultClass::kCaptureViolation);
  }
  event->graph = nullptr;
  event->asked = 0;
  event->points.clear();
  if (call->has(Fault::kEventsHappenEarly)) return kOk;
  for (const auto& queue : call->queues.all()) {
    if (queue->device == device) event->points.push_back(call->queues.Tail(queue.get()));
  }
  return kOk;
}
Result CheckAskEvent(Call& call, EmulatedEvent* event, const char* what) {
  if (const Result r = call->CheckEvent(event, what); r != kOk) return r;
  if (event->graph == nullptr) return kOk;
  call->BreakCaptures(event->device, "asking a captured event");
  return Code(ResultClass::kCaptureViolation);
}
Result EventQuery(void* self, NativeEvent native) {
  Call call(self);
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = CheckAskEvent(call, event, "A query"); r != kOk) return r;
  return IsDoneOrPatient(call, event->points, &event->asked) ? kOk : Code(ResultClass::kNotReady);
}
Result EventSynchronize(void* self, NativeEvent native) {
  Call call(self);
  ++call->counts.host_waits;
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = CheckAskEvent(call, event, "A wait of the host"); r != kOk) return r;
  call->queues.RunTo(event->points);
  return kOk;
}
Result DeviceSynchronize(void* self) {
  Call call(self);
  ++call->counts.device_synchronizes;
  ++call->counts.host_waits;
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  if (call->AnyCapture(device)) {
    call->BreakCaptures(device, "a wait for the device");
    return Code(ResultClass::kCaptureViolation);
  }
  call->queues.RunDevice(device);
  return kOk;
}

// ---- Peers ----

Result PeerCanAccess(void* self, int device, int peer, bool* can) {
  Call call(self);
  const int n = call->options.devices;
  if (device < 0 || device >= n || peer < 0 || peer >= n) return Code(ResultClass::kNoDevice);
  *can = device != peer;
  return kOk;
}
Result PeerEnable(void* self, int peer) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  return call->peers.insert({device, peer}).second ? kOk : Code(ResultClass::kPeerAlreadyEnabled);
}

// ---- Kernels: a function is the name of a kernel ----

gpu::KernelImage GetKernelImage(void* self, int) {
  if (!Call(self)->options.has_kernels)
    return {nullptr, 0, "The emulator was made without kernels."};
  static const char image = 0;
  return {&image, 1, ""};
}
Result ModuleLoad(void* self, const gpu::KernelImage* image, NativeModule* module) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  *module = const_cast<void*>(image->data);
  return kOk;
}
Result ModuleFunction(void*, NativeModule, const char* name, NativeFunction* function) {
  for (const char* known : gpu::kKernelNames) {
    if (std::strcmp(known, name) == 0) {
      *function = const_cast<char*>(known);
      return kOk;
    }
  }
  return Code(ResultClass::kInvalidValue);
}
Result Launch(void* self, NativeFunction function, const uint32_t grid[3], const uint32_t block[3],
              uint32_t, NativeStream stream, void** args) {
  Call call(self);
  ++call->counts.launches;
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  if (block[0] != static_cast<uint32_t>(gpu::kBlockThreads) || block[1] != 1 || block[2] != 1 ||
      grid[0] == 0 || grid[1] != 1 || grid[2] != 1) {
    return Code(ResultClass::kInvalidValue);
  }
  const char* name = static_cast<const char*>(function);
  const auto* bytes = static_cast<const char*>(args[0]);
  auto arguments =
      std::make_shared<std::vector<char>>(bytes, bytes + gpu::KernelArgumentBytes(name));
  // Without blocks it only asks for the addresses, which are looked up while they are the caller's.
  auto accesses = std::make_shared<std::map<const void*, Access>>();
  void* parameters[] = {arguments->data()};
  gpu::RunKernelOnHost(name, 0, parameters, [&](const void* data) -> void* {
    Access access;
    const Result r = call->Resolve(data, 1, queue->device, false, "A kernel's access", &access);
    if (r != kOk) result = r;
    if (r == kOk && access.is_host()) {
      call->Complain("A kernel was given memory that is none of the GPU's.");
      result = Code(ResultClass::kInvalidValue);
    }
    accesses->emplace(data, access);
    return nullptr;
  });
  if (result != kOk) return result;
  Impl* impl = &*call;
  return call->Add(queue, [impl, name, blocks = grid[0], arguments, accesses] {
    void* again[] = {arguments->data()};
    gpu::RunKernelOnHost(name, blocks, again, [&](const void* data) {
      const Access& access = accesses->at(data);
      impl->CheckAtRun(access, "A kernel");
      return impl->Reach(access);
    });
  });
}

// ---- Other processes ----

struct MemoryHandle {
  int pid;
  int file;
  int device;
  size_t offset;
  size_t nbytes;
};
static_assert(sizeof(MemoryHandle) <= gpu::kIpcHandleSize);

Result IpcMemoryHandle(void* self, void* ptr, gpu::IpcHandle* handle) {
  Call call(self);
  const std::shared_ptr<Allocation> a = call->FindAllocation(ptr);
  if (a == nullptr || !a->live || a->memory == nullptr || a->from_pool) {
    return Code(ResultClass::kInvalidValue);
  }
  const MemoryHandle content{getpid(), a->memory->file(), a->device, a->memory->OffsetOf(a->base),
                             a->size};
  *handle = {};
  std::memcpy(handle->bytes, &content, sizeof content);
  return kOk;
}
Result IpcOpen(void* self, const gpu::IpcHandle* handle, void** ptr) {
  Call call(self);
  MemoryHandle content;
  std::memcpy(&content, handle->bytes, sizeof content);
  if (content.pid == getpid()) return Code(ResultClass::kInvalidValue);  // as the drivers do
  std::FILE* file =
      std::fopen(absl::StrCat("/proc/", content.pid, "/fd/", content.file).c_str(), "r+");
  if (file == nullptr) return Code(ResultClass::kInvalidHandle);
  const int copy = dup(fileno(file));
  std::fclose(file);
  call->foreign.push_back(std::make_unique<DeviceMemory>(copy, content.offset, content.nbytes));
  DeviceMemory* memory = call->foreign.back().get();
  call->Insert(std::make_shared<Allocation>(Allocation{.kind = PointerKind::kDevice,
                                                       .device = content.device,
                                                       .base = static_cast<char*>(memory->base()),
                                                       .size = content.nbytes,
                                                       .memory = memory}));
  *ptr = memory->base();
  return kOk;
}
Result IpcClose(void* self, void* ptr) {
  Call call(self);
  const std::shared_ptr<Allocation> a = call->FindAllocation(ptr);
  for (const auto& memory : call->foreign) {
    if (memory->base() != ptr || a == nullptr || !a->live) continue;
    for (int device = 0; device < call->options.devices; ++device) call->queues.RunDevice(device);
    a->live = false;
    return kOk;
  }
  return Code(ResultClass::kInvalidValue);
}
// An event's work is done before its handle goes to another process, whose streams can't wait for
// this one's.
Result IpcEventHandle(void* self, NativeEvent native, gpu::IpcHandle* handle) {
  Call call(self);
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = call->CheckEvent(event, "A handle"); r != kOk) return r;
  if (!event->interprocess) return Code(ResultClass::kInvalidValue);
  call->queues.RunTo(event->points);
  *handle = {};
  return kOk;
}
Result IpcOpenEvent(void* self, const gpu::IpcHandle*, NativeEvent* event) {
  return EventCreate(self, gpu::kEventInterprocess, event);
}

}  // namespace

gpu::RuntimeApi MakeRuntimeTable(Emulator::Impl* impl) {
  const EmulatorOptions& o = impl->options;
  const bool is_cuda = o.vendor->device == DeviceType::kCuda;
  gpu::RuntimeApi api;
  api.self = impl;
  api.vendor = o.vendor;
  api.legacy_stream = NativeStream{is_cuda ? 1u : 0u};
  api.per_thread_stream = NativeStream{2};
  api.load = &Load;
  api.device_count = &DeviceCount;
  api.runtime_version = &RuntimeVersion;
  api.device_info = &GetDeviceInfo;
  api.classify = &Classify;
  api.describe = &Describe;
  api.push_device = &PushDevice;
  api.pop_device = &PopDevice;
  api.malloc_device = &Malloc<PointerKind::kDevice>;
  api.free_device = &FreeDevice;
  if (o.has_pools) {
    api.malloc_async = &MallocAsync;
    api.free_async = &FreeAsync;
    api.pool_trim = &PoolTrim;
    api.pool_set_release_threshold = &PoolSetReleaseThreshold;
    api.pool_stats = &PoolGetStats;
    api.pool_allow_access = &PoolAllowAccess;
  }
  api.malloc_host = &Malloc<PointerKind::kPinnedHost>;
  api.free_host = &FreeHost;
  if (o.has_managed) api.malloc_managed = &Malloc<PointerKind::kManaged>;
  api.memory_info = &MemoryInfo;
  api.pointer_info = &GetPointerInfo;
  api.copy_async = &CopyAsync;
  api.copy_peer_async = &CopyPeerAsync;
  api.copy_2d_async = &Copy2dAsync;
  api.fill_async = &FillAsync;
  api.stream_create = &StreamCreate;
  api.stream_destroy = &StreamDestroy;
  api.stream_query = &StreamQuery;
  api.stream_synchronize = &StreamSynchronize;
  api.stream_wait_event = &StreamWaitEvent;
  api.stream_capture_status = &StreamCaptureStatus;
  if (o.has_stream_device) api.stream_device = &StreamDevice;
  api.exchange_capture_mode = &ExchangeCaptureMode;
  api.event_create = &EventCreate;
  api.event_destroy = &EventDestroy;
  api.event_record = &EventRecord;
  api.event_query = &EventQuery;
  api.event_synchronize = &EventSynchronize;
  if (o.has_context_events) api.context_record_event = &ContextRecordEvent;
  api.device_synchronize = &DeviceSynchronize;
  api.peer_can_access = &PeerCanAccess;
  api.peer_enable = &PeerEnable;
  api.kernel_image = &GetKernelImage;
  api.module_load = &ModuleLoad;
  api.module_function = &ModuleFunction;
  api.launch = &Launch;
  api.ipc_memory_handle = &IpcMemoryHandle;
  api.ipc_open = &IpcOpen;
  api.ipc_close = &IpcClose;
  api.ipc_event_handle = &IpcEventHandle;
  api.ipc_open_event = &IpcOpenEvent;
  return api;
}

}  // namespace dovetail::inline DOVETAIL_ABI::emulator
