#include "dovetail/tests/emulator/emulator.h"

#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "dovetail/tests/emulator/impl.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

Emulator::Impl::Impl(EmulatorOptions o) : options(std::move(o)), queues(options.seed) {
  const auto n = static_cast<size_t>(options.devices);
  pools.resize(n);
  pool_used.resize(n);
  keep_in_pool.resize(n);
  for (int device = 0; device < options.devices; ++device) {
    memory.push_back(std::make_unique<DeviceMemory>(options.device_bytes));
    legacy.push_back(queues.Make(device, /*blocking=*/false));
  }
  api = MakeRuntimeTable(this);
}

Emulator::Impl::~Impl() {
  for (const auto& [base, a] : allocations) {
    if (a->live && a->memory == nullptr && !a->of_program)
      munmap(a->base, (a->size + 4095) / 4096 * 4096);
  }
}

Emulator::Emulator(EmulatorOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Emulator::~Emulator() = default;

const gpu::RuntimeApi& Emulator::api() const { return impl_->api; }

std::vector<std::string> Emulator::Complaints() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->complaints;
}

std::vector<std::string> Emulator::TakeComplaints() {
  std::lock_guard lock(impl_->mutex);
  return std::exchange(impl_->complaints, {});
}

CallCounts Emulator::counts() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}

void Emulator::ResetCounts() {
  std::lock_guard lock(impl_->mutex);
  impl_->counts = {};
}

void Emulator::Inject(Fault fault, bool on) {
  std::lock_guard lock(impl_->mutex);
  impl_->faults[static_cast<int>(fault)] = on;
}

void Emulator::Fail(Function function, ResultClass result, int successes) {
  std::lock_guard lock(impl_->mutex);
  impl_->failures[static_cast<int>(function)] = {Code(result), successes};
}

Result Emulator::Impl::FailureOf(Function function) {
  Failure& failure = failures[static_cast<int>(function)];
  if (failure.successes == 0) return failure.result;
  --failure.successes;
  return kOk;
}

Result Emulator::Impl::PeerFailureOf(Function function, int device, int peer) {
  if (const Result r = FailureOf(function); r != kOk) return r;
  if (!options.has_peers || impossible_peers.contains({device, peer})) {
    return Code(ResultClass::kNotSupported);
  }
  const auto found = peer_failures.find({device, peer});
  return found == peer_failures.end() ? kOk : found->second;
}

void Emulator::SetPeer(int device, int peer, bool can_access) {
  std::lock_guard lock(impl_->mutex);
  if (can_access) {
    impl_->impossible_peers.erase({device, peer});
  } else {
    impl_->impossible_peers.insert({device, peer});
  }
}

void Emulator::FailPeer(int device, int peer, ResultClass result) {
  std::lock_guard lock(impl_->mutex);
  impl_->peer_failures[{device, peer}] = Code(result);
}

namespace {

// Another library's call: makes its device current for a scope.
class OtherLibrary {
 public:
  OtherLibrary(Emulator::Impl& impl, int device) : impl_(impl), lock_(impl.mutex) {
    previous_ = impl_.current();
    impl_.SetCurrent(device);
  }
  ~OtherLibrary() { impl_.SetCurrent(previous_); }
  Queue* Find(NativeStream stream) {
    Result result;
    return impl_.Find(stream, true, &result);
  }

 private:
  Emulator::Impl& impl_;
  std::lock_guard<std::recursive_mutex> lock_;
  int previous_;
};

}  // namespace

NativeStream Emulator::MakeStream(int device, bool blocking) {
  std::lock_guard lock(impl_->mutex);
  impl_->used.insert(device);
  Queue* queue = impl_->queues.Make(device, blocking);
  impl_->by_handle[queue->handle] = queue;
  return NativeStream{queue->handle};
}

void Emulator::DestroyStream(NativeStream stream) {
  std::lock_guard lock(impl_->mutex);
  Result result;
  if (Queue* queue = impl_->Find(stream, false, &result)) queue->destroyed = true;
}

void Emulator::Set(NativeStream stream, int device, void* data, int value, size_t nbytes) {
  OtherLibrary other(*impl_, device);
  Queue* queue = other.Find(stream);
  Access access;
  if (queue == nullptr ||
      impl_->Resolve(data, nbytes, device, false, "Another library's write", &access) != kOk) {
    return;
  }
  impl_->Add(queue, impl_->Checked(access, {}, "Another library's write",
                                   [=](void* d, const void*) { std::memset(d, value, nbytes); }));
}

void Emulator::CopyOn(NativeStream stream, int device, void* dst, const void* src, size_t nbytes) {
  OtherLibrary other(*impl_, device);
  if (Queue* queue = other.Find(stream)) {
    impl_->Copy(queue, dst, src, nbytes, nbytes, nbytes, 1, true);
  }
}

void Emulator::RecordAndWait(NativeStream recorded, NativeStream waiting, int device) {
  OtherLibrary other(*impl_, device);
  Queue* from = other.Find(recorded);
  Queue* to = other.Find(waiting);
  if (from != nullptr && to != nullptr) impl_->Add(to, nullptr, impl_->PointsNow(from));
}

void Emulator::Hold(NativeStream stream, int device, const uint32_t* word, uint32_t value) {
  OtherLibrary other(*impl_, device);
  Queue* queue = other.Find(stream);
  if (queue == nullptr) return;
  const auto ready = [=] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= value; };
  const auto wait = [=] {
    while (!ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Points after = impl_->PointsNow(queue);
  impl_->queues.Add(queue, wait, {after.begin() + 1, after.end()}, ready);
}

void Emulator::Pin(void* data, size_t nbytes) {
  std::lock_guard lock(impl_->mutex);
  auto pinned = std::make_shared<Allocation>(Allocation{.kind = PointerKind::kPinnedHost,
                                                        .device = 0,
                                                        .base = static_cast<char*>(data),
                                                        .size = nbytes,
                                                        .of_program = true});
  impl_->Insert(std::move(pinned));
}

void* Emulator::Malloc(int device, size_t nbytes) {
  std::lock_guard lock(impl_->mutex);
  void* data = nullptr;
  impl_->used.insert(device);
  impl_->Allocate(PointerKind::kDevice, device, nbytes, &data);
  return data;
}

void* Emulator::MallocApart(int device, size_t nbytes) {
  void* const data = Malloc(device, nbytes);
  std::lock_guard lock(impl_->mutex);
  if (data != nullptr) impl_->FindAllocation(data)->apart = true;
  return data;
}

void Emulator::SetCurrent(int device) {
  std::lock_guard lock(impl_->mutex);
  impl_->SetCurrent(device);
}

bool Emulator::HasContext(int device) const {
  std::lock_guard lock(impl_->mutex);
  return impl_->used.contains(device);
}

void Emulator::Free(void* data) {
  std::lock_guard lock(impl_->mutex);
  impl_->FreeNow(data, /*host=*/false);
}

void Emulator::BeginCapture(NativeStream stream, int device) {
  OtherLibrary other(*impl_, device);
  Queue* queue = other.Find(stream);
  if (queue == nullptr) return;
  impl_->graphs.push_back(std::make_unique<Graph>());
  queue->graph = impl_->graphs.back().get();
  queue->graph->origin = queue;
}

bool Emulator::EndCapture(NativeStream stream, int device) {
  OtherLibrary other(*impl_, device);
  Queue* origin = other.Find(stream);
  if (origin == nullptr || origin->graph == nullptr) return false;
  Graph* graph = origin->graph;
  for (const auto& queue : impl_->queues.all()) {
    if (queue->graph == graph) queue->graph = nullptr;
  }
  return !graph->invalidated;
}

void Emulator::LaunchLastGraph(NativeStream stream, int device) {
  OtherLibrary other(*impl_, device);
  Queue* queue = other.Find(stream);
  if (queue == nullptr || impl_->graphs.empty()) return;
  for (const std::function<void()>& work : impl_->graphs.back()->work) impl_->Add(queue, work);
}

void Emulator::Finish() {
  std::lock_guard lock(impl_->mutex);
  for (int device = 0; device < impl_->options.devices; ++device) impl_->queues.RunDevice(device);
}

std::vector<unsigned char> Emulator::Read(const void* data, size_t nbytes) {
  Finish();
  return Peek(data, nbytes);
}

std::vector<unsigned char> Emulator::Peek(const void* data, size_t nbytes) const {
  std::lock_guard lock(impl_->mutex);
  const void* from = data;
  for (const auto& arena : impl_->memory) {
    if (arena->Contains(data)) from = arena->Translate(data);
  }
  for (const auto& foreign : impl_->foreign) {
    if (foreign->Contains(data)) from = foreign->Translate(data);
  }
  const auto* bytes = static_cast<const unsigned char*>(from);
  return {bytes, bytes + nbytes};
}

bool Emulator::IsLive(const void* data) const {
  std::lock_guard lock(impl_->mutex);
  const std::shared_ptr<Allocation> a = impl_->FindAllocation(data);
  return a != nullptr && a->live && !a->freeing;
}

bool Emulator::IsOfPool(const void* data) const {
  std::lock_guard lock(impl_->mutex);
  const std::shared_ptr<Allocation> a = impl_->FindAllocation(data);
  return a != nullptr && a->from_pool;
}

size_t Emulator::LiveBytes(int device) const {
  std::lock_guard lock(impl_->mutex);
  size_t nbytes = 0;
  for (const auto& [base, a] : impl_->allocations) {
    if (a->live && !a->freeing && a->kind == PointerKind::kDevice && a->device == device) {
      nbytes += a->size;
    }
  }
  return nbytes;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
