// RuntimeApi's IPC handles of memory and events.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/tests/emulator/call.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {
namespace {

using gpu::NativeEvent;

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
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  // Like the drivers. All processes have the same emulated devices.
  if (content.pid == getpid() || content.device != device) return Code(ResultClass::kInvalidValue);
  std::FILE* file =
      std::fopen(absl::StrCat("/proc/", content.pid, "/fd/", content.file).c_str(), "r+");
  if (file == nullptr) return Code(ResultClass::kInvalidHandle);
  const int copy = dup(fileno(file));
  std::fclose(file);
  ++call->counts.ipc_opens;
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
// The mappings that were closed last are kept, so that their use is noticed.
void ForgetOldest(Emulator::Impl& impl) {
  constexpr size_t kClosedOnesKept = 8;
  auto is_closed = [&](const std::unique_ptr<DeviceMemory>& memory) {
    const auto a = impl.FindAllocation(memory->base());
    return a == nullptr || a->memory != memory.get() || !a->live;
  };
  const auto closed = std::count_if(impl.foreign.begin(), impl.foreign.end(), is_closed);
  if (static_cast<size_t>(closed) <= kClosedOnesKept) return;
  const auto oldest = std::find_if(impl.foreign.begin(), impl.foreign.end(), is_closed);
  if (const auto a = impl.FindAllocation((*oldest)->base());
      a != nullptr && a->memory == oldest->get()) {
    impl.allocations.erase(reinterpret_cast<uintptr_t>(a->base));
  }
  impl.foreign.erase(oldest);
}

Result IpcClose(void* self, void* ptr) {
  Call call(self);
  const std::shared_ptr<Allocation> a = call->FindAllocation(ptr);
  for (const auto& memory : call->foreign) {
    if (memory->base() != ptr || a == nullptr || !a->live) continue;
    for (int device = 0; device < call->options.devices; ++device) call->queues.RunDevice(device);
    a->live = false;
    ++call->counts.ipc_closes;
    ForgetOldest(*call);
    return kOk;
  }
  call->Complain("Memory of another process was closed that is not open.");
  return Code(ResultClass::kInvalidValue);
}
// The event's work is done before another process gets its handle: that process's streams can't
// wait for this one's.
Result IpcEventHandle(void* self, NativeEvent native, gpu::IpcHandle* handle) {
  Call call(self);
  EmulatedEvent* event = static_cast<EmulatedEvent*>(native);
  if (const Result r = call->CheckEvent(event, "A handle"); r != kOk) return r;
  if (!event->interprocess) return Code(ResultClass::kInvalidValue);
  if (!call->options.has_ipc_events) return Code(ResultClass::kNotSupported);
  call->queues.RunTo(event->points);
  *handle = {};
  return kOk;
}
Result IpcOpenEvent(void* self, const gpu::IpcHandle*, NativeEvent* event) {
  Call call(self);
  return call->api.event_create(self, gpu::kEventInterprocess, event);
}

}  // namespace

void FillProcesses(gpu::RuntimeApi& api) {
  api.ipc_memory_handle = &IpcMemoryHandle;
  api.ipc_open = &IpcOpen;
  api.ipc_close = &IpcClose;
  api.ipc_event_handle = &IpcEventHandle;
  api.ipc_open_event = &IpcOpenEvent;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
