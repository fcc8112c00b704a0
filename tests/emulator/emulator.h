// Emulator: a RuntimeApi on the CPU, by either vendor's rules, that makes every missing
// synchronisation visible. The GPU backend is tested on it without a GPU.
//
//   Emulator gpu({.vendor = &gpu::kCudaTraits, .devices = 2});
//   RegisterGpuBackend(registry, gpu.api());
//   ... and at the end
//   EXPECT_THAT(gpu.Complaints(), IsEmpty());
//
// - Work of a stream runs as late as possible (queues.h).
// - Device memory traps if the host touches it (device_memory.h). It holds 0xA5 after its
// allocation
//   and 0xDF after its free, in stream order if the free has a stream.
// - Complaints() lists uses that a real driver leaves undefined: memory used before its
//   allocation, after its free, freed twice, or accessed from a device without peer access (which
//   starts off, and is given to plain memory and to the pool one by one); streams used after they
//   were destroyed, or on another device; captures that a call broke.
// - The methods of this class do what another library would: capture and launch graphs, for
// example.
// - Each Fault breaks one thing, for tests of the tests.
//
// Any thread; calls are serialised.

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
  uint64_t seed = 0;  // 0: no stream runs ahead
  int patience = 2;   // queries that answer "not yet" before the work runs
  bool has_pools = true;
  bool has_managed = true;
  bool has_kernels = true;
  bool has_context_events = true;
  bool has_stream_device = true;
  bool has_ipc_events = true;
  bool has_peers = true;          // each device can access every other one's memory, once enabled
  bool knows_peer_memory = true;  // there is RuntimeApi::peers_reach
  std::string missing_driver;     // if not empty, there is no driver: the reason
};

// What a test of the tests can break.
enum class Fault {
  kIgnoreWaits,        // streams do not wait for events
  kEventsHappenEarly,  // events have happened as soon as they are recorded
  kCopyOnHost,         // the host makes the copies, at addresses that it can't touch
  kCount,
};

// A function of RuntimeApi that a test can let fail.
enum class Function {
  kPushDevice,
  kStreamSynchronize,
  kStreamWaitEvent,
  kStreamCaptureStatus,
  kEventCreate,
  kEventRecord,
  kEventQuery,
  kEventSynchronize,
  kContextRecordEvent,
  kDeviceSynchronize,
  kPeerCanAccess,
  kPeerEnable,
  kPoolAllowAccess,
  kCount,
};

inline constexpr unsigned char kAllocatedPoison = 0xA5;
inline constexpr unsigned char kFreedPoison = 0xDF;

// The numbers of calls that tests count.
struct CallCounts {
  int stream_creates = 0;
  int event_creates = 0;
  int event_records = 0;
  int context_event_records = 0;
  int stream_waits = 0;
  int stream_queries = 0;
  int host_waits = 0;  // of streams, events and devices
  int device_synchronizes = 0;
  int allocations = 0;  // from the device; for a pool, only its own requests
  int frees = 0;
  int copies = 0;
  int64_t link_bytes = 0;  // of copies that leave a device or come from elsewhere
  int launches = 0;
  int ipc_opens = 0;
  int ipc_closes = 0;
  int peer_calls = 0;  // questions and changes of which device may access which
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
  // The same, and clears them.
  std::vector<std::string> TakeComplaints();
  CallCounts counts() const;
  void ResetCounts();
  void Inject(Fault fault, bool on);
  // After `successes` more calls, each call of the function fails with `result` and does nothing.
  // kOk ends that.
  void Fail(Function function, gpu::ResultClass result, int successes = 0);
  // One pair of devices. Whether `device` can be given access to the memory of `peer`.
  void SetPeer(int device, int peer, bool can_access);
  // Each peer_enable of the pair, and each pool_allow_access, fails with `result`; kOk ends that.
  void FailPeer(int device, int peer, gpu::ResultClass result);

  // What other libraries do on their own streams.
  NativeStream MakeStream(int device, bool blocking = false);
  void DestroyStream(NativeStream stream);
  // Sets memory to `value`, or copies it, in stream order.
  void Set(NativeStream stream, int device, void* data, int value, size_t nbytes);
  void CopyOn(NativeStream stream, int device, void* dst, const void* src, size_t nbytes);
  void RecordAndWait(NativeStream recorded, NativeStream waiting, int device);
  // The stream's later work waits until `*word` is at least `value`. The host then waits for it in
  // the call that waits for the stream, with the emulator's lock: other code must set the word.
  void Hold(NativeStream stream, int device, const uint32_t* word, uint32_t value);
  // Makes host memory that a program allocated pinned memory.
  void Pin(void* data, size_t nbytes);
  void* Malloc(int device, size_t nbytes);
  // Memory that only its own device can access, whatever was enabled: of another library's pool.
  void* MallocApart(int device, size_t nbytes);
  // Makes the device current on this thread; -1: none.
  void SetCurrent(int device);
  void Free(void* data);

  // Captures.
  void BeginCapture(NativeStream stream, int device);
  // Ends the capture; returns whether it is intact. The graph can then be launched.
  bool EndCapture(NativeStream stream, int device);
  void LaunchLastGraph(NativeStream stream, int device);

  // Waits for all work; then reads bytes of any memory.
  void Finish();
  std::vector<unsigned char> Read(const void* data, size_t nbytes);
  // Reads without waiting.
  std::vector<unsigned char> Peek(const void* data, size_t nbytes) const;
  bool IsLive(const void* data) const;
  // Whether the memory is of a device's pool (malloc_async).
  bool IsOfPool(const void* data) const;
  size_t LiveBytes(int device) const;
  // Whether a library made a context on the device, by any call that needs one.
  bool HasContext(int device) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_EMULATOR_H_
