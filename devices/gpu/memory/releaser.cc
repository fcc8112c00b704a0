#include "dovetail/devices/gpu/memory/releaser.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "dovetail/core/internal/exceptions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

ReleasedAllocator* AllocatorOf(const Uses& uses) {
  return static_cast<ReleasedAllocator*>(uses.allocator);
}

// An allocator reuses the memory in any order. A lender orders its own later work.
bool MustAwait(const Uses& uses, const Uses::Use& use) {
  return uses.allocator != nullptr || use.kind == UseKind::kWork;
}

}  // namespace

Releaser::~Releaser() {
  Flush();
  absl::MutexLock lock(&mutex_);
  if (sync_thread_.joinable()) sync_thread_.detach();  // a forked child has no such thread to join
}

void Releaser::Push(std::unique_ptr<Uses> uses) noexcept {
  Uses* node = uses.release();
  node->next = pushed_.load(std::memory_order_relaxed);
  while (!pushed_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

// (Clang does not see that `unlock` does.)
void Releaser::Drain() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (pushed_.load(std::memory_order_relaxed) == nullptr && waiting() == 0) return;
  if (runtime_.IsForkedChild()) return;
  if (!mutex_.TryLock()) return;  // another thread is draining
  List ready;
  {
    const absl::Cleanup unlock = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); };
    if (MayCapture()) return;
    TakePushed();
    CollectSync();
    if (!streams_.MayCapture()) CoverUnknown();  // again: TakePushed may have seen a capture
    Poll(/*thorough=*/false);
    ready = TakeReady();
  }
  GiveBack(std::move(ready));
}

void Releaser::Drain(const Stream& stream) {
  if (pushed_.load(std::memory_order_relaxed) == nullptr && waiting() == 0) return;
  if (StreamDevice(stream.device()).type == runtime_.vendor().device) {
    (void)streams_.IsCapturing(stream);  // remembered by Streams; the caller reports errors
  }
  Drain();
}

void Releaser::Flush() {
  if (!runtime_.Ready().ok()) return;  // a forked child is not
  List ready;
  {
    absl::MutexLock lock(&mutex_);
    TakePushed();
    if (sync_thread_.joinable()) sync_thread_.join();
    CollectSync();
    contexts_are_captured_ = false;
    if (!unknown_.empty() && captured_.empty()) {
      if (SynchronizeDevices()) {
        for (std::unique_ptr<Uses>& uses : unknown_) Await(std::move(uses));
        unknown_.clear();
      } else {
        contexts_are_captured_ = true;
      }
    }
    for (const std::unique_ptr<Uses>& uses : awaited_) {
      for (const Event& event : uses->awaited) (void)events_.Synchronize(event);
    }
    Poll(/*thorough=*/true);
    ready = TakeReady();
  }
  GiveBack(std::move(ready));
}

void Releaser::Abandon() {
  absl::MutexLock lock(&mutex_);
  captured_.clear();
  awaited_.clear();
  unknown_.clear();
}

// Asks again for the streams of captured_, since Streams counts another library's stream as
// captured until it is asked about.
bool Releaser::MayCapture() {
  for (const std::unique_ptr<Uses>& uses : captured_) (void)IsCaptured(*uses);
  return streams_.MayCapture();
}

void Releaser::TakePushed() {
  for (std::unique_ptr<Uses>& uses : std::exchange(captured_, {})) Arrange(std::move(uses));
  Uses* list = pushed_.exchange(nullptr, std::memory_order_acquire);
  Uses* oldest_first = nullptr;
  while (list != nullptr) {
    Uses* next = list->next;
    list->next = oldest_first;
    oldest_first = list;
    list = next;
  }
  while (oldest_first != nullptr) {
    std::unique_ptr<Uses> uses(oldest_first);
    oldest_first = oldest_first->next;
    Arrange(std::move(uses));
  }
}

void Releaser::Arrange(std::unique_ptr<Uses> uses) {
  // A use of the default stream, too, may break the capture.
  if (!captured_.empty()) return captured_.push_back(std::move(uses));
  if (uses->allocator != nullptr && !uses->has_unknown() && uses->events().empty()) {
    const Uses::UseList streams = uses->streams();
    if (streams.empty() || (streams.size() == 1 &&
                            AllocatorOf(*uses)->MayReclaimInOrder(uses->data, streams[0].stream))) {
      return ready_.push_back(std::move(uses));
    }
    if (streams.size() == 1 &&
        AllocatorOf(*uses)->ReclaimInOrder(uses->data, uses->nbytes, streams[0].stream)) {
      return;
    }
  }
  if (IsCaptured(*uses)) return captured_.push_back(std::move(uses));
  for (const Event& event : uses->events()) {
    if (Events::HoldOf(event) != nullptr) uses->awaited.push_back(event);
  }
  // An event over the device covers the known streams, too.
  if (uses->has_unknown() || !RecordUses(*uses)) return unknown_.push_back(std::move(uses));
  Await(std::move(uses));
}

bool Releaser::IsCaptured(const Uses& uses) {
  bool captured = false;
  for (const Uses::Use& use : uses.streams()) {
    captured |= MustAwait(uses, use) && streams_.IsCapturing(use.stream).value_or(false);
  }
  return captured;
}

// False if an event could not be recorded: the use then counts as unknown.
bool Releaser::RecordUses(Uses& uses) {
  const RelaxedCaptureMode relaxed(runtime_);
  for (const Uses::Use& use : uses.streams()) {
    if (!MustAwait(uses, use)) continue;
    // A consumer that named this stream for pinned memory works on another device.
    if (runtime_.IsUntouched(use.stream)) return false;
    absl::StatusOr<Event> event = events_.Record(use.stream);
    if (!event.ok()) return false;
    uses.awaited.push_back(*std::move(event));
  }
  // A captured event stands for work of a graph. The graph's owner keeps its memory alive.
  for (const Event& event : uses.events()) {
    if (!Events::IsCaptured(event) && Events::HoldOf(event) == nullptr) {
      uses.awaited.push_back(event);
    }
  }
  return true;
}

void Releaser::Await(std::unique_ptr<Uses> uses) {
  const bool held = std::any_of(uses->awaited.begin(), uses->awaited.end(), [](const Event& event) {
    return Events::HoldOf(event) != nullptr;
  });
  if (uses->allocator != nullptr && !held &&
      AllocatorOf(*uses)->ReclaimAfter(uses->data, uses->nbytes, uses->awaited)) {
    return;
  }
  awaited_.push_back(std::move(uses));
}

void Releaser::CoverUnknown() {
  if (unknown_.empty() || contexts_are_captured_) return;
  if (runtime_.api().context_record_event == nullptr) return StartSync();
  const RelaxedCaptureMode relaxed(runtime_);
  Uses::EventList over_all;
  for (int device = 0; device < runtime_.DeviceCount().value_or(0); ++device) {
    if (!runtime_.IsInUse(device)) continue;
    absl::StatusOr<Event> event = events_.RecordContext(device);
    if (event.status().code() == absl::StatusCode::kFailedPrecondition) {
      contexts_are_captured_ = true;
      return;
    }
    if (!event.ok()) return StartSync();
    over_all.push_back(*std::move(event));
  }
  for (std::unique_ptr<Uses>& uses : unknown_) {
    uses->awaited.insert(uses->awaited.end(), over_all.begin(), over_all.end());
    Await(std::move(uses));
  }
  unknown_.clear();
}

void Releaser::StartSync() {
  if (sync_state_.load(std::memory_order_acquire) != SyncState::kIdle) return;
  if (sync_thread_.joinable()) sync_thread_.join();
  syncing_ = std::exchange(unknown_, {});
  sync_state_.store(SyncState::kRunning, std::memory_order_relaxed);
  DOVETAIL_TRY {
    sync_thread_ = std::thread([this] {
      const bool done = SynchronizeDevices();
      sync_state_.store(done ? SyncState::kDone : SyncState::kFailed, std::memory_order_release);
    });
  }
  DOVETAIL_CATCH(const std::system_error&) {  // no thread available: the next Drain tries again
    unknown_ = std::exchange(syncing_, {});
    sync_state_.store(SyncState::kIdle, std::memory_order_relaxed);
  }
}

void Releaser::CollectSync() {
  const SyncState state = sync_state_.load(std::memory_order_acquire);
  if (state == SyncState::kIdle || state == SyncState::kRunning) return;
  for (std::unique_ptr<Uses>& uses : syncing_) {
    if (state == SyncState::kDone) {
      Await(std::move(uses));
    } else {
      unknown_.push_back(std::move(uses));
    }
  }
  syncing_.clear();
  contexts_are_captured_ = contexts_are_captured_ || state == SyncState::kFailed;
  sync_state_.store(SyncState::kIdle, std::memory_order_relaxed);
}

bool Releaser::SynchronizeDevices() {
  const RelaxedCaptureMode relaxed(runtime_);
  const RuntimeApi& api = runtime_.api();
  for (int device = 0; device < runtime_.DeviceCount().value_or(0); ++device) {
    if (!runtime_.IsInUse(device)) continue;
    DeviceGuard guard(runtime_, device);
    if (!guard.ok() || api.device_synchronize(api.self) != 0) return false;
  }
  return true;
}

void Releaser::Poll(bool thorough) {
  size_t kept = 0;
  for (std::unique_ptr<Uses>& uses : awaited_) {
    bool done = true;
    for (const Event& event : uses->awaited) {
      Hold* hold = Events::HoldOf(event);
      if (hold != nullptr ? !hold->IsOver(thorough) : !events_.Query(event).value_or(false)) {
        done = false;
        break;
      }
    }
    if (done) {
      ready_.push_back(std::move(uses));
    } else {
      awaited_[kept++] = std::move(uses);
    }
  }
  awaited_.resize(kept);
}

Releaser::List Releaser::TakeReady() {
  waiting_count_.store(
      static_cast<int>(captured_.size() + awaited_.size() + unknown_.size() + syncing_.size()),
      std::memory_order_relaxed);
  return std::exchange(ready_, {});
}

void Releaser::GiveBack(List ready) {
  for (std::unique_ptr<Uses>& uses : ready) {
    if (uses->allocator != nullptr) {
      AllocatorOf(*uses)->Reclaim(uses->data, uses->nbytes);
    } else {
      uses->release.function(uses->release.context);
    }
  }
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
