// The state of an Emulator and the steps of its functions. Internal to the emulator.
//
// Everything here is called with `mutex` held.

#ifndef DOVETAIL_TESTS_EMULATOR_IMPL_H_
#define DOVETAIL_TESTS_EMULATOR_IMPL_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/tests/emulator/device_memory.h"
#include "dovetail/tests/emulator/emulator.h"
#include "dovetail/tests/emulator/queues.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

using gpu::PointerKind;
using gpu::Result;
using gpu::ResultClass;

constexpr Result Code(ResultClass c) { return static_cast<Result>(c); }
inline constexpr Result kOk = 0;

struct Allocation {
  PointerKind kind;
  int device;
  char* base;
  size_t size;
  bool from_pool = false;
  bool of_program = false;         // the program allocated it
  bool apart = false;              // no other device can access it
  bool ready = true;               // whether the allocation has happened, if it is stream-ordered
  bool freeing = false;            // a free was requested
  bool live = true;                // false once the free has happened
  DeviceMemory* memory = nullptr;  // of device memory
};

// A range that some work reads or writes.
struct Access {
  std::shared_ptr<Allocation> allocation;  // null: pageable host memory
  const void* data = nullptr;
  size_t nbytes = 0;
  bool is_host() const { return allocation == nullptr; }
};

// How the next calls of a function end.
struct Failure {
  Result result = kOk;
  int successes = 0;  // calls that succeed before
};

struct PoolBlock {
  char* base;
  size_t size;
  Point freed;  // before this point, reused only on the same stream
};

struct Emulator::Impl {
  explicit Impl(EmulatorOptions o);
  ~Impl();

  void Complain(std::string what);

  // Devices and streams.
  int current() const;
  void SetCurrent(int device);
  Result CheckCurrent(int* device);
  Queue* LegacyOf(int device);
  // The stream of a handle. If there is none, `*result` is the error. `needs_current`: its device
  // must be current.
  Queue* Find(NativeStream stream, bool needs_current, Result* result);
  // Adds work to a stream, or to the graph that it is captured into.
  Result Add(Queue* queue, std::function<void()> run, Points after = {});
  Result CheckLegacy(Queue* queue);
  Points PointsNow(Queue* queue);
  void BreakCaptures(int device, const char* by);
  bool AnyCapture(int device) const;
  // A call that an open capture forbids unless this thread's mode is relaxed.
  Result CheckUnsafe(const char* what);

  // Memory.
  std::shared_ptr<Allocation> FindAllocation(const void* data) const;
  Result Resolve(const void* data, size_t nbytes, int device, bool any_device, const char* what,
                 Access* access);
  void CheckAtRun(const Access& access, const char* what);
  bool MayAccess(int device, const Allocation& allocation) const;
  void* Translate(const Allocation& allocation, const void* data) const;
  void* Reach(const Access& access) const;
  Result Allocate(PointerKind kind, int device, size_t nbytes, void** data);
  Result FreeNow(void* data, bool host);
  Result AllocateFromPool(Queue* queue, size_t nbytes, void** data);
  Result FreeToPool(Queue* queue, void* data);
  void TrimPool(int device, size_t keep);
  void Insert(std::shared_ptr<Allocation> allocation);
  void Poison(Allocation& allocation, unsigned char value);
  Result Copy(Queue* queue, void* dst, const void* src, size_t dst_pitch, size_t src_pitch,
              size_t width, size_t height, bool any_device);
  std::function<void()> Checked(Access dst, Access src, const char* what,
                                std::function<void(void*, const void*)> run);

  // Events.
  Result CheckEvent(EmulatedEvent* event, const char* what);

  EmulatorOptions options;
  gpu::RuntimeApi api;
  mutable std::recursive_mutex mutex;
  Queues queues;
  std::vector<std::unique_ptr<DeviceMemory>> memory;             // by device
  std::vector<std::unique_ptr<DeviceMemory>> foreign;            // other processes' memory
  std::map<uintptr_t, std::shared_ptr<Allocation>> allocations;  // by base, the last one there
  std::vector<std::vector<PoolBlock>> pools;
  std::vector<size_t> pool_used;
  std::vector<size_t> keep_in_pool;
  std::vector<Queue*> legacy;
  std::map<std::pair<std::thread::id, int>, Queue*> per_thread;
  std::map<uintptr_t, Queue*> by_handle;
  std::vector<std::unique_ptr<EmulatedEvent>> events;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::map<std::thread::id, int> currents;
  std::set<int> used;  // devices that some library used
  std::map<std::thread::id, gpu::CaptureMode> modes;
  // {device, peer}: those whose plain memory, and whose pool, the device may access.
  std::set<std::pair<int, int>> peers, pool_peers;
  std::set<std::pair<int, int>> impossible_peers;
  std::map<std::pair<int, int>, Result> peer_failures;
  std::vector<std::string> complaints;
  CallCounts counts;
  bool faults[static_cast<int>(Fault::kCount)] = {};
  bool has(Fault fault) const { return faults[static_cast<int>(fault)]; }
  Failure failures[static_cast<int>(Function::kCount)];
  // The result with which this call fails, kOk if it does not.
  Result FailureOf(Function function);
  // The same for a change of the access of `device` to the memory of `peer`.
  Result PeerFailureOf(Function function, int device, int peer);
};

gpu::RuntimeApi MakeRuntimeTable(Emulator::Impl* impl);

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_IMPL_H_
