#include "dovetail/devices/gpu/copy/peers.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

std::atomic<Peers::State>& Peers::Of(int device, int peer) {
  absl::call_once(once_, [this] {
    count_ = static_cast<size_t>(runtime_.DeviceCount().value_or(0));
    states_ = std::vector<std::atomic<State>>(count_ * count_);
  });
  return states_[static_cast<size_t>(device) * count_ + static_cast<size_t>(peer)];
}

void Peers::Connect(int a, int b) {
  if (Of(a, b).load(std::memory_order_acquire) != State::kUntried &&
      Of(b, a).load(std::memory_order_acquire) != State::kUntried) {
    return;
  }
  absl::MutexLock lock(&mutex_);
  const RelaxedCaptureMode relaxed(runtime_);
  for (const auto& [device, peer] : {std::pair(a, b), std::pair(b, a)}) {
    std::atomic<State>& state = Of(device, peer);
    if (state.load(std::memory_order_relaxed) != State::kUntried) continue;
    state.store(Try(device, peer), std::memory_order_release);
  }
}

// Any failure means that there is no access. (CUDA gives a device at most eight peers without
// NVSwitch, for example.)
Peers::State Peers::Try(int device, int peer) {
  const RuntimeApi& api = runtime_.api();
  bool can = false;
  if (api.peer_can_access(api.self, device, peer, &can) != 0 || !can) return State::kNone;
  DeviceGuard guard(runtime_, device);
  if (!guard.ok()) return State::kNone;
  const Result enabled = api.peer_enable(api.self, peer);
  if (enabled != 0 && runtime_.Classify(enabled) != ResultClass::kPeerAlreadyEnabled) {
    return State::kNone;
  }
  if (!runtime_.Info(peer).has_pools) return State::kFull;
  // Makes the pool if nothing was allocated from it before.
  return api.pool_allow_access(api.self, peer, device) == 0 ? State::kFull : State::kNone;
}

bool Peers::Reach(int device, const void* ptr, int owner) {
  Connect(device, owner);
  if (Of(device, owner).load(std::memory_order_acquire) != State::kFull) return false;
  const RuntimeApi& api = runtime_.api();
  bool reach = false;
  return api.peers_reach != nullptr && api.peers_reach(api.self, ptr, owner, &reach) == 0 && reach;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
