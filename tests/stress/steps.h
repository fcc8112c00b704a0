// The kinds of operations of the stress test. Each makes, reads, hands on and drops objects in ways
// that the headers allow on any thread.

#ifndef DOVETAIL_TESTS_STRESS_STEPS_H_
#define DOVETAIL_TESTS_STRESS_STEPS_H_

#include <memory>

#include "dovetail/core/device_backend.h"
#include "dovetail/tests/stress/held.h"
#include "dovetail/tests/stress/shelf.h"

namespace dovetail::stress {

// What the threads share.
struct Board {
  Shelf<Held> tensors;          // on the CPU
  SharedShelf<Held> read_only;  // on the CPU, read by several threads at once

  void Clear() {
    tensors.Clear();
    read_only.Clear();
  }
};

class Steps {
 public:
  virtual ~Steps() = default;
  // One operation. Any thread, each with numbers of its own.
  virtual void Run(Random& random) = 0;
  // Afterwards, on one thread: drops what is left.
  virtual void Finish() {}
  // After Finish of all steps, when the board is empty: everything was given back.
  virtual void Check() {}
};

// New tensors, views, copies and casts; threads for copies; allocator trims and statistics.
std::unique_ptr<Steps> HostSteps(Board& board);
// DLPack of both forms, lent memory and Arrow's C interface. Counts calls of deleters.
std::unique_ptr<Steps> ExchangeSteps(Board& board);
// Memory that processes share. Forks a second process, so call it before threads are started.
std::unique_ptr<Steps> IpcSteps(Board& board);
// Registering backends and looking them up.
std::unique_ptr<Steps> RegistrySteps();
// Memory, streams, copies and exchanges of the two devices of `backend`, which is registered.
std::unique_ptr<Steps> GpuSteps(Board& board, DeviceBackend& backend);

}  // namespace dovetail::stress

#endif  // DOVETAIL_TESTS_STRESS_STEPS_H_
