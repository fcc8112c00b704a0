// Emulator: a RuntimeApi on the CPU, by either vendor's rules, that makes every missing
// synchronisation visible.
//
//   Emulator gpu({.vendor = &gpu::kCudaTraits, .devices = 2});
//   RegisterGpuBackend(registry, gpu.api());
//   ... and at the end
//   EXPECT_THAT(gpu.Complaints(), IsEmpty());
//
// - Work of a stream runs as late as it may (queues.h).
// - Device memory traps when the host touches it (device_memory.h), holds 0xA5 when it was just
//   allocated and 0xDF once it was freed, in the order of the stream where the free has one.
// - What a real driver would leave undefined is noted down: Complaints() tells of memory used
// before
//   it was allocated, after it was freed, freed twice, or reached from a device without peer
//   access; of streams used after they were destroyed, or on another device; of captures that a
//   call broke.
// - Graphs are captured and launched by functions of this class, as another library would.
// - Faults are switches that break one thing each, for tests of the tests.
//
// Any thread; one call at a time is carried out.

#ifndef DOVETAIL_TESTS_EMULATOR_EMULATOR_H_
#define DOVETAIL_TESTS_EMULATOR_EMULATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/runtime/vendor_traits.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

struct EmulatorOptions {
  const gpu::VendorTraits* vendor = &gpu::kCudaTraits;
  int devices = 2;
  size_t device_bytes = size_t{64} << 20;
  int runtime_version = 12060;
  uint64_t seed = 0;  // 0: nothing goes ahead of its own
  int patience = 2;   // how often a query answers "not yet" before it lets the work run
  bool has_pools = true;
  bool has_managed = true;
  bool has_kernels = true;
  bool has_context_events = true;
  bool has_stream_device = true;
  bool has_ipc_events = true;
  std::string missing_driver;  // not empty: there is none, and why
};

// What tests of the tests break.
enum class Fault {
  kIgnoreWaits,        // streams do not wait for events
  kEventsHappenEarly,  // events say that they have happened as soon as they are recorded
  kCopyOnHost,         // copies are made by the host, at the addresses that it can't touch
  kCount,
};

inline constexpr unsigned char kAllocatedPoison = 0xA5;
inline constexpr unsigned char kFreedPoison = 0xDF;

// How often calls were made that tests count.
struct CallCounts {
  int event_creates = 0;
  int event_records = 0;
  int context_event_records = 0;
  int stream_waits = 0;
  int stream_queries = 0;
  int host_waits = 0;  // of streams, events and devices
  int device_synchronizes = 0;
  int allocations = 0;  // from the device: of a pool only what it takes from there
  int frees = 0;
  int copies = 0;
  int launches = 0;
  int ipc_opens = 0;
  int ipc_closes = 0;
  int total = 0;
};

class Emulator {
 public:
  struct Impl;

  explicit Emulator(EmulatorOptions options = {});
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  // Valid as long as the emulator.
  const gpu::RuntimeApi& api() const;

  std::vector<std::string> Complaints() const;
  // The same, and forgets them.
  std::vector<std::string> TakeComplaints();
  CallCounts counts() const;
  void ResetCounts();
  void Inject(Fault fault, bool on);

  // What other libraries do, on streams of their own.
  NativeStream MakeStream(int device, bool blocking = false);
  void DestroyStream(NativeStream stream);
  // Sets memory to `value`, or copies it, in the order of the stream.
  void Set(NativeStream stream, int device, void* data, int value, size_t nbytes);
  void CopyOn(NativeStream stream, int device, void* dst, const void* src, size_t nbytes);
  void RecordAndWait(NativeStream recorded, NativeStream waiting, int device);
  void* Malloc(int device, size_t nbytes);
  void Free(void* data);

  // Captures.
  void BeginCapture(NativeStream stream, int device);
  // Ends it; returns whether it is whole. The graph can then be launched.
  bool EndCapture(NativeStream stream, int device);
  void LaunchLastGraph(NativeStream stream, int device);

  // Waits for all, and reads bytes of any memory as they are then.
  void Finish();
  std::vector<unsigned char> Read(const void* data, size_t nbytes);
  // Reads without waiting: what a stray look would see.
  std::vector<unsigned char> Peek(const void* data, size_t nbytes) const;
  bool IsLive(const void* data) const;
  size_t LiveBytes(int device) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_EMULATOR_H_
