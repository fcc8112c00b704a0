// RuntimeApi's functions that load, describe and select devices; makes the whole table.

#include <cstdio>
#include <string>

#include "dovetail/tests/emulator/call.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {
namespace {

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
  if (const Result r = call->FailureOf(Function::kPushDevice); r != kOk) return r;
  if (device < 0 || device >= call->options.devices) return Code(ResultClass::kNoDevice);
  *previous = reinterpret_cast<void*>(static_cast<intptr_t>(call->current()));
  call->SetCurrent(device);
  return kOk;
}
Result PopDevice(void* self, void* previous) {
  Call(self)->SetCurrent(static_cast<int>(reinterpret_cast<intptr_t>(previous)));
  return kOk;
}
Result CurrentDevice(void* self, int* device) {
  *device = Call(self)->current();
  return kOk;
}
Result DeviceInUse(void* self, int device, bool* in_use) {
  *in_use = Call(self)->used.contains(device);
  return kOk;
}

// ---- Peers ----

Result PeerCanAccess(void* self, int device, int peer, bool* can) {
  Call call(self);
  ++call->counts.peer_calls;
  if (const Result r = call->FailureOf(Function::kPeerCanAccess); r != kOk) return r;
  const int n = call->options.devices;
  if (device < 0 || device >= n || peer < 0 || peer >= n) return Code(ResultClass::kNoDevice);
  *can =
      call->options.has_peers && device != peer && !call->impossible_peers.contains({device, peer});
  return kOk;
}
Result PeerEnable(void* self, int peer) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  ++call->counts.peer_calls;
  if (const Result r = call->CheckUnsafe("access to another device"); r != kOk) return r;
  if (const Result r = call->PeerFailureOf(Function::kPeerEnable, device, peer); r != kOk) return r;
  return call->peers.insert({device, peer}).second ? kOk : Code(ResultClass::kPeerAlreadyEnabled);
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
  api.current_device = &CurrentDevice;
  api.device_in_use = &DeviceInUse;
  api.peer_can_access = &PeerCanAccess;
  api.peer_enable = &PeerEnable;
  FillMemory(api, o);
  FillStreams(api, o);
  FillKernels(api);
  FillProcesses(api);
  return api;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
