// Peers: access between the devices of a vendor, enabled at the first use of a pair.
//
//   if (peers.Reach(0, ptr, 1)) ...     // kernels of device 0 may access `ptr`, memory of device 1
//   peers.Connect(0, 1);                // the driver then copies without the host's memory
//
// A pair is tried once, both ways, and the outcome is remembered; later calls read an atomic. That
// two devices have no access is no error: the driver's copies between them work all the same. Any
// thread, also while streams are captured.

#ifndef DOVETAIL_DEVICES_GPU_COPY_PEERS_H_
#define DOVETAIL_DEVICES_GPU_COPY_PEERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class Peers {
 public:
  explicit Peers(Runtime& runtime) : runtime_(runtime) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // Gives each of two devices access to the other's memory, the pool's included, where it can be.
  // Both devices exist.
  void Connect(int a, int b);

  // Connects the two, and says whether work of `device` may access `ptr`, memory of `owner`. False
  // for memory that may have access rights of its own (RuntimeApi::peers_reach).
  bool Reach(int device, const void* ptr, int owner);

 private:
  enum class State : uint8_t { kUntried, kNone, kFull };

  std::atomic<State>& Of(int device, int peer);
  State Try(int device, int peer);

  Runtime& runtime_;
  absl::once_flag once_;
  size_t count_ = 0;
  std::vector<std::atomic<State>> states_;  // of each device towards each peer
  absl::Mutex mutex_;                       // held while a pair is tried
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_PEERS_H_
