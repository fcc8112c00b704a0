// ipc::Pool: many tensors in one shared memory, for processes that exchange tensors again and
// again.
//
//   absl::StatusOr<ipc::Pool> pool = ipc::Pool::Create({.nbytes = 1 << 30});
//   absl::StatusOr<Tensor> t = pool->Empty({1024, 1024}, kFloat32);
//   absl::StatusOr<std::string> message = pool->Share(*t);       // at most 64 bytes
//   // in another process
//   absl::StatusOr<Tensor> there = ipc::Open(*message);          // open.h
//
// A tensor's memory is free for the next Empty when no living process has a tensor over it. It
// keeps its pages, so that making, sharing, opening and releasing tensors needs no system call once
// both processes have the pool mapped. What a killed process had is freed when the memory is
// needed.
//
// A message can be opened any number of times, as long as some process has a tensor over the
// memory. Later, opening it is an error, also when the memory has been reused: keep the tensor
// until the others have opened it, or say how often that will be (MessageOptions).
//
// Who maps a pool can read all of it, and write unless it opens only messages that were shared
// read-only. Make a pool for each domain of trust, or isolate a tensor (Empty's options).
//
// A value: copies are the same pool. A forked child can use it and holds what its parent held. The
// memory stays as long as any process has a tensor over it; its file in /dev/shm goes with the last
// Pool and tensor of the process that made it. Any thread.

#ifndef DOVETAIL_INTEROP_IPC_POOL_H_
#define DOVETAIL_INTEROP_IPC_POOL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/ipc/pool_options.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/ipc/share.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

class SlotPool;

// How often a message can be opened that keeps its tensor.
DOVETAIL_NOT_SHARED inline constexpr uint32_t kMostOpens = (1u << 24) - 1;

struct MessageOptions {
  // The memory's mapping in a process that opens the message can't be written.
  bool read_only = false;
  // The message keeps the tensor until it has been opened so many times, or this process has ended.
  // 0: it does not. At most four processes at a time can have sent such messages of one tensor.
  uint32_t opens = 0;
};

class Pool {
 public:
  // InvalidArgument for a pool of 0 bytes, or an anonymous one that is to grow; ResourceExhausted
  // or Unavailable if the memory can't be made.
  static absl::StatusOr<Pool> Create(const PoolOptions& options);
  // Another process's pool, to make tensors there, too: by its name(), or for an anonymous pool by
  // a descriptor that was received, which stays the caller's. FailedPrecondition, with the reason,
  // if it is gone or another user's.
  static absl::StatusOr<Pool> Open(std::string_view name);
  static absl::StatusOr<Pool> Attach(int file);

  // A new row-major tensor on the CPU, uninitialised. ResourceExhausted, with the processes that
  // hold the memory, if there is no room within options.timeout.
  absl::StatusOr<Tensor> Empty(absl::Span<const int64_t> shape, DType dtype,
                               const AllocateOptions& options = {}) const;

  // What other processes need to open the tensor: at most 64 bytes. The tensor can be a view, and
  // made by another library. FailedPrecondition for memory that is not of this pool.
  absl::StatusOr<std::string> Share(const Tensor& tensor, const MessageOptions& options = {}) const;

  // Who holds what. Also frees what ended processes held.
  absl::StatusOr<PoolStats> Stats() const;
  // Frees what ended processes held, and returns the number of bytes. Empty does so before it would
  // fail.
  absl::StatusOr<uint64_t> Reclaim() const;

  // For Open; empty for an anonymous pool. Valid as long as the process that made the pool has it.
  std::string name() const;
  // The descriptor of an anonymous pool, to send for Attach. It stays the pool's. -1 for a pool
  // with a name.
  int file() const;

 private:
  explicit Pool(std::shared_ptr<SlotPool> slots) : slots_(std::move(slots)) {}

  std::shared_ptr<SlotPool> slots_;
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_POOL_H_
