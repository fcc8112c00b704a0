// Devices and access between them.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "dovetail/devices/cuda/runtime.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/gpu/vendor/testing/fake_log.h"
#include "tests/forwarding_hip/shared_gpu.h"

namespace forwarding_hip {

const RuntimeApi& Cuda() { return dovetail::gpu::CudaRuntimeApi(); }

namespace {

using dovetail::gpu::DeviceInfo;

// The number of CUDA's devices; 0 if they can't be counted.
int RealCount() {
  static const int count = [] {
    int counted = 0;
    return Cuda().device_count(Cuda().self, &counted) == 0 ? counted : 0;
  }();
  return count;
}

int Count() {
  static const int count = dovetail_fake::Setting("DOVETAIL_FORWARDED_DEVICES", RealCount());
  return RealCount() == 0 ? 0 : count;
}

}  // namespace

int RealDevice(int device) { return device % std::max(RealCount(), 1); }

bool HavePeers() {
  static const bool have = dovetail_fake::Setting("DOVETAIL_FORWARDED_PEERS", 1) != 0;
  return have;
}

// ---- Describing and selecting devices ----

namespace {

Result DeviceCount(void* self, int* count) {
  const Result result = Cuda().device_count(self, count);
  if (result == 0) *count = Count();
  return result;
}

Result GetDeviceInfo(void* self, int device, DeviceInfo* info) {
  if (device < 0 || device >= Count()) return dovetail::gpu::kCodeInvalidDevice;
  const Result result = Cuda().device_info(self, RealDevice(device), info);
  if (result != 0) return result;
  // Devices that are one GPU are functions of it, so that each has an address of its own.
  const size_t length = strnlen(info->pci_bus_id, sizeof(info->pci_bus_id));
  if (length > 0) {
    info->pci_bus_id[length - 1] =
        static_cast<char>(info->pci_bus_id[length - 1] + device / RealCount());
  }
  return 0;
}

// The devices that this thread has pushed, with what CUDA restores.
struct Pushed {
  int device;
  void* previous;
};
thread_local std::vector<Pushed> pushed;

Result PushDevice(void* self, int device, void**) {
  void* previous = nullptr;
  const Result result = Cuda().push_device(self, RealDevice(device), &previous);
  if (result == 0) pushed.push_back({device, previous});
  return result;
}

Result PopDevice(void* self, void*) {
  void* const previous = pushed.back().previous;
  pushed.pop_back();
  return Cuda().pop_device(self, previous);
}

}  // namespace

int CurrentDevice() { return pushed.back().device; }

// ---- Access between devices ----

namespace {

Result PeerCanAccess(void* self, int device, int peer, bool* can) {
  if (!AreOneGpu(device, peer)) {
    return Cuda().peer_can_access(self, RealDevice(device), RealDevice(peer), can);
  }
  *can = HavePeers() && device != peer;
  return 0;
}

Result PeerEnable(void* self, int peer) {
  if (!AreOneGpu(CurrentDevice(), peer)) return Cuda().peer_enable(self, RealDevice(peer));
  if (!HavePeers() || peer == CurrentDevice()) return dovetail::gpu::kCodeInvalidDevice;
  static std::mutex mutex;
  static auto* const enabled = new std::set<std::pair<int, int>>;
  std::lock_guard<std::mutex> lock(mutex);
  const bool is_new = enabled->insert({CurrentDevice(), peer}).second;
  return is_new ? 0 : dovetail::gpu::kCodePeerAlreadyEnabled;
}

}  // namespace

void FillDevices(RuntimeApi& api) {
  api.device_count = DeviceCount;
  api.device_info = GetDeviceInfo;
  api.push_device = PushDevice;
  api.pop_device = PopDevice;
  api.peer_can_access = PeerCanAccess;
  api.peer_enable = PeerEnable;
  api.kernel_image = [](void* self, int device) {
    return Cuda().kernel_image(self, RealDevice(device));
  };
}

}  // namespace forwarding_hip
