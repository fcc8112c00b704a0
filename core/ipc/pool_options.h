// What a pool of shared memory is told, and what it tells.

#ifndef DOVETAIL_CORE_IPC_POOL_OPTIONS_H_
#define DOVETAIL_CORE_IPC_POOL_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

struct PoolOptions {
  size_t nbytes = 0;      // the room for tensors
  size_t most_bytes = 0;  // what the pool may grow to, by further files; `nbytes` if that is more
  // The memory has no file in /dev/shm: other processes get the descriptor of Pool::file(), by
  // a socket or a fork. Such a pool does not grow.
  bool anonymous = false;
};

struct AllocateOptions {
  // How long to wait for memory that others free. Zero: not at all.
  absl::Duration timeout = absl::ZeroDuration();
  // In a segment of its own, which is not part of the pool's size: who opens it maps nothing else.
  bool isolated = false;
};

// A process that holds memory of a pool.
struct Holder {
  uint32_t process_id = 0;  // 0 if unknown. Another container has numbers of its own.
  bool is_this_process = false;
  uint64_t slots = 0;   // the number of allocations, also those that its messages hold
  uint64_t nbytes = 0;  // in multiples of 4 KiB
};

struct PoolStats {
  uint64_t capacity = 0;    // bytes
  uint64_t most_bytes = 0;  // that the pool may grow to
  uint64_t reserved = 0;    // bytes that have pages
  uint64_t used = 0;        // bytes that any process holds, in multiples of 4 KiB
  uint64_t used_slots = 0;  // the number of allocations that any process holds
  uint64_t messages = 0;    // that hold memory until they are opened
  int segments = 1;         // the number of files
  std::vector<Holder> holders;
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_POOL_OPTIONS_H_
