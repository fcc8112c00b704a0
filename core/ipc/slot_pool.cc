#include "dovetail/core/ipc/slot_pool.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/ipc/futex.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr size_t kSegmentOfProcess = size_t{64} << 20;
constexpr size_t kSegmentOfDevices = size_t{1} << 20;
// How long a waiting process sleeps without looking for an interruption.
constexpr absl::Duration kLongestSleep = absl::Milliseconds(20);
// Between two attempts to divide memory differently and to free what ended processes held.
constexpr absl::Duration kShortestPause = absl::Microseconds(50);
constexpr absl::Duration kLongestPause = absl::Milliseconds(200);
constexpr size_t kMostNamed = 8;

}  // namespace

absl::StatusOr<std::shared_ptr<SlotPool>> SlotPool::Create(const PoolOptions& options) {
  if (options.nbytes == 0) {
    return absl::InvalidArgumentError("A pool of 0 bytes has no room for anything.");
  }
  if (options.anonymous && options.most_bytes > options.nbytes) {
    return absl::InvalidArgumentError(
        "An anonymous pool can't grow: other processes could not open its further files.");
  }
  absl::StatusOr<std::shared_ptr<Segment>> first =
      Segment::Create(options.nbytes, SegmentKind::kHostMemory,
                      options.anonymous ? SegmentBacking::kAnonymous : SegmentBacking::kNamed);
  if (!first.ok()) return first.status();
  std::shared_ptr<SlotPool> pool(
      new SlotPool(options.nbytes, std::max(options.nbytes, options.most_bytes)));
  const StdMutexLock lock(StateMutex());
  pool->segments_.push_back(*std::move(first));
  return pool;
}

absl::StatusOr<std::shared_ptr<SlotPool>> SlotPool::Of(std::shared_ptr<Segment> first) {
  if (first->kind() != SegmentKind::kHostMemory) return OtherKindError();
  std::shared_ptr<SlotPool> pool(new SlotPool(first->nbytes(), first->nbytes()));
  const StdMutexLock lock(StateMutex());
  pool->segments_.push_back(std::move(first));
  return pool;
}

absl::StatusOr<std::shared_ptr<SlotPool>> SlotPool::Open(SegmentName name) {
  absl::StatusOr<std::shared_ptr<Segment>> first = Segment::Open(name);
  if (!first.ok()) return first.status();
  return Of(*std::move(first));
}

absl::StatusOr<std::shared_ptr<SlotPool>> SlotPool::Attach(int file) {
  absl::StatusOr<std::shared_ptr<Segment>> first = Segment::Attach(file);
  if (!first.ok()) return first.status();
  return Of(*std::move(first));
}

SlotPool::~SlotPool() {
  {
    Segments segments;
    const StdMutexLock lock(StateMutex());
    segments.swap(segments_);
  }
  Segment::Forget();
}

// Never destroyed, since tensors may be destroyed while the process exits.
SlotPool* SlotPool::ForProcess(size_t segment_bytes, SegmentKind kind) {
  auto* pool = new SlotPool(segment_bytes, std::numeric_limits<size_t>::max());
  pool->kind_ = kind;
  pool->is_of_process_ = true;
  return pool;
}

SlotPool& SlotPool::OfProcess() {
  static SlotPool* const pool = ForProcess(kSegmentOfProcess, SegmentKind::kHostMemory);
  return *pool;
}

SlotPool& SlotPool::OfDevices() {
  static SlotPool* const pool = ForProcess(kSegmentOfDevices, SegmentKind::kDeviceBlocks);
  return *pool;
}

SlotPool::Segments SlotPool::GetSegments() {
  Segments left, segments;  // destroyed after the unlock
  const StdMutexLock lock(StateMutex());
  if (is_of_process_) {
    // In a forked child, the segments that there are belong to the parent. Others can't open what
    // is closed.
    left.reserve(segments_.size());  // nothing is moved before this can fail
    std::erase_if(segments_, [&](std::shared_ptr<Segment>& s) {
      if (s->is_mine() && !s->is_closed()) return false;
      left.push_back(std::move(s));
      return true;
    });
  }
  segments = segments_;
  return segments;
}

SlotHold SlotPool::TryAllocate(size_t nbytes) {
  const StdMutexLock lock(StateMutex());
  for (const std::shared_ptr<Segment>& segment : segments_) {
    if (is_of_process_ && (!segment->is_mine() || segment->is_closed())) continue;
    if (SlotHold hold = segment->TryAllocate(nbytes)) return hold;
  }
  return {};
}

absl::StatusOr<SlotHold> SlotPool::TryHarder(size_t nbytes) {
  while (true) {
    FindFollowers();
    absl::Status status;
    const Segments segments = GetSegments();
    for (const std::shared_ptr<Segment>& segment : segments) {
      absl::StatusOr<SlotHold> hold = segment->Allocate(nbytes);
      if (hold.ok() || !absl::IsResourceExhausted(hold.status())) return hold;
      status = hold.status();
    }
    absl::StatusOr<SlotHold> grown = Grow(nbytes);
    if (grown.ok() || !absl::IsResourceExhausted(grown.status())) return grown;
    // Another thread may have added a segment in its place.
    if (segments.size() < GetSegments().size()) continue;
    if (!grown.status().message().empty()) status = grown.status();
    return is_of_process_ ? status : FullError(nbytes, status);
  }
}

absl::StatusOr<SlotHold> SlotPool::Grow(size_t nbytes) {
  const Segments segments = GetSegments();
  if (!segments.empty() && (segments.front()->is_anonymous() || !segments.front()->is_mine())) {
    return absl::ResourceExhaustedError("");
  }
  size_t have = 0;
  for (const std::shared_ptr<Segment>& segment : segments) have += segment->nbytes();
  if (nbytes > most_bytes_ || have > most_bytes_ - nbytes) return absl::ResourceExhaustedError("");
  const size_t wanted = std::max(nbytes, std::min(segment_bytes_, most_bytes_ - have));
  absl::StatusOr<std::shared_ptr<Segment>> segment = Segment::Create(wanted, kind_);
  // A limit of the process may allow the allocation alone.
  if (absl::IsResourceExhausted(segment.status()) && nbytes < wanted) {
    segment = Segment::Create(nbytes, kind_);
  }
  if (!segment.ok()) return segment.status();
  absl::StatusOr<SlotHold> hold = (*segment)->Allocate(nbytes);
  if (!hold.ok()) return hold;
  if (absl::Status s = AddFollower(*segment); !s.ok()) return s;
  return hold;
}

// The first segment names the others, for the pools of other processes.
absl::Status SlotPool::AddFollower(const std::shared_ptr<Segment>& segment) {
  const StdMutexLock lock(StateMutex());
  size_t have = 0;
  for (const std::shared_ptr<Segment>& s : segments_) have += s->nbytes();
  if (have > most_bytes_ - std::min(most_bytes_, segment->nbytes())) {
    return absl::ResourceExhaustedError("");  // another thread was first
  }
  if (!is_of_process_ && !segments_.empty()) {
    SegmentHead& head = segments_.front()->head();
    const uint32_t count = head.follower_count.load();
    if (count >= SegmentHead::kMostFollowers) {
      return absl::ResourceExhaustedError("The pool has as many files as it can have.");
    }
    head.followers[count] = segment->name();
    head.follower_count.store(count + 1);
  }
  segments_.push_back(segment);
  return absl::OkStatus();
}

// (If the maker has ended, those that this process has not mapped can't be opened any more.)
void SlotPool::FindFollowers() {
  const Segments segments = GetSegments();
  if (segments.empty() || is_of_process_) return;
  const SegmentHead& head = segments.front()->head();
  const uint32_t count = std::min<uint32_t>(head.follower_count.load(), head.kMostFollowers);
  if (segments.size() > count) return;
  for (uint32_t i = 0; i < count; ++i) {
    absl::StatusOr<std::shared_ptr<Segment>> follower = Segment::Open(head.followers[i]);
    if (!follower.ok()) continue;
    const StdMutexLock lock(StateMutex());
    if (std::find(segments_.begin(), segments_.end(), *follower) == segments_.end()) {
      segments_.push_back(*std::move(follower));
    }
  }
}

absl::StatusOr<SlotHold> SlotPool::Allocate(size_t nbytes, const AllocateOptions& options) {
  if (options.isolated) return AllocateIsolated(nbytes);
  if (SlotHold hold = TryAllocate(nbytes)) return hold;
  const absl::Duration deadline = SteadyNow() + options.timeout;
  absl::Duration pause = kShortestPause;
  while (true) {
    const uint32_t seen = FreedCount();
    absl::StatusOr<SlotHold> hold = TryHarder(nbytes);
    if (hold.ok() || !absl::IsResourceExhausted(hold.status()) || SteadyNow() >= deadline ||
        nbytes > LargestPossible()) {
      return hold;
    }
    // What others free is often of the right size. To divide it differently, or to look for
    // processes that have ended, takes the structure lock: less and less often, as many may wait.
    const absl::Duration next = SteadyNow() + pause;
    pause = std::min(2 * pause, kLongestPause);
    for (uint32_t before = seen; SteadyNow() < std::min(deadline, next);) {
      if (ScopedInterruption::IsAsked()) return absl::CancelledError("The wait was interrupted.");
      WaitForFreed(before, std::min(deadline, next));
      before = FreedCount();
      if (SlotHold freed = TryAllocate(nbytes)) return freed;
    }
  }
}

// Of all allocations, were everything free.
size_t SlotPool::LargestPossible() {
  size_t have = 0, largest = 0;
  for (const std::shared_ptr<Segment>& segment : GetSegments()) {
    have += segment->nbytes();
    largest = std::max(largest, segment->nbytes());
  }
  return std::max(largest, most_bytes_ - std::min(most_bytes_, have));
}

absl::StatusOr<SlotHold> SlotPool::AllocateIsolated(size_t nbytes) {
  if (!is_of_process_ && is_anonymous()) {
    return absl::InvalidArgumentError(
        "An anonymous pool (memfd=True) has no isolated allocations, which are files in /dev/shm: "
        "make another anonymous pool.");
  }
  // With room for records of unusual layouts (interop/ipc/record.h).
  constexpr size_t kForRecords = 8 * kGranuleBytes;
  if (nbytes > std::numeric_limits<size_t>::max() - kForRecords) nbytes -= kForRecords;
  Segment::Forget();
  absl::StatusOr<std::shared_ptr<Segment>> own = Segment::Create(nbytes + kForRecords);
  if (!own.ok()) return own.status();
  absl::StatusOr<SlotHold> hold = (*own)->Allocate(nbytes);
  if (!hold.ok()) return hold;
  const StdMutexLock lock(StateMutex());
  std::erase_if(isolated_, [](const std::weak_ptr<Segment>& s) { return s.expired(); });
  isolated_.push_back(*own);
  return hold;
}

// Changes whenever memory is freed.
uint32_t SlotPool::FreedCount() {
  uint32_t count = 0;
  for (const std::shared_ptr<Segment>& segment : GetSegments()) count += segment->head().freed;
  return count;
}

// Returns at once if the count is no longer `seen`, and soon if an interruption may be asked for.
void SlotPool::WaitForFreed(uint32_t seen, absl::Duration until) {
  const Segments segments = GetSegments();
  const absl::Duration left = until - SteadyNow();
  // Only of one segment does the count change where this can wait for it.
  if (segments.size() != 1) return absl::SleepFor(std::min(left, absl::Milliseconds(1)));
  SegmentHead& head = segments.front()->head();
  head.waiting.store(1);
  WaitForFutex(head.freed, seen, std::min(left, kLongestSleep));
}

absl::Status SlotPool::FullError(size_t nbytes, const absl::Status& reason) {
  absl::StatusOr<PoolStats> stats = Stats();
  if (!stats.ok()) return reason;
  std::vector<std::string> holders;
  for (const Holder& h : stats->holders) {
    if (holders.size() == kMostNamed) break;
    holders.push_back(absl::StrCat(h.is_this_process ? "this process" : "process ",
                                   h.is_this_process ? "" : absl::StrCat(h.process_id), " holds ",
                                   h.nbytes, " bytes in ", h.slots,
                                   h.slots == 1 ? " allocation" : " allocations"));
  }
  const bool is_too_large = nbytes > LargestPossible();
  const bool has_reason = !Segment::IsFull(reason);
  const bool has_rest = !has_reason && stats->capacity - stats->used >= nbytes;
  const std::string text = absl::StrCat(
      "The pool has no room for ", nbytes, " bytes: ", stats->used, " of ", stats->capacity,
      " bytes are held", holders.empty() ? "" : " (", absl::StrJoin(holders, "; "),
      holders.empty() ? "" : ")",
      is_too_large ? ", and no allocation can have more than one of its files. Make a larger pool."
      : has_rest
          ? ", and the rest is in pieces that are too small. Release tensors, wait for others "
            "to do so (a timeout), or make a larger pool."
          : ". Release tensors, wait for others to do so (a timeout), or make a larger pool.");
  return absl::ResourceExhaustedError(has_reason ? absl::StrCat(reason.message(), " ", text)
                                                 : text);
}

bool SlotPool::Contains(const Segment& segment) {
  if (HasFound(segment)) return true;
  FindFollowers();
  return HasFound(segment);
}

bool SlotPool::HasFound(const Segment& segment) {
  const StdMutexLock lock(StateMutex());
  for (const std::shared_ptr<Segment>& s : segments_) {
    if (s.get() == &segment) return true;
  }
  for (const std::weak_ptr<Segment>& s : isolated_) {
    // Compared by owner: locking it could make this the last to drop it.
    if (!s.owner_before(segment.weak_from_this()) && !segment.weak_from_this().owner_before(s)) {
      return true;
    }
  }
  return false;
}

SegmentName SlotPool::name() { return GetSegments().front()->name(); }
bool SlotPool::is_anonymous() { return GetSegments().front()->is_anonymous(); }
int SlotPool::file() { return GetSegments().front()->file(); }
size_t SlotPool::reserved_bytes() {
  const StdMutexLock lock(StateMutex());
  size_t nbytes = 0;
  for (const std::shared_ptr<Segment>& segment : segments_) nbytes += segment->reserved_bytes();
  return nbytes;
}

int SlotPool::segment_count() { return static_cast<int>(GetSegments().size()); }

absl::StatusOr<PoolStats> SlotPool::Stats() {
  Segment::Forget();
  FindFollowers();
  const Segments segments = GetSegments();
  PoolStats total;
  total.most_bytes = most_bytes_;
  total.segments = static_cast<int>(segments.size());
  std::map<uint32_t, Holder> holders;
  for (const std::shared_ptr<Segment>& segment : segments) {
    absl::StatusOr<PoolStats> stats = segment->Stats();
    if (!stats.ok()) return stats;
    total.capacity += stats->capacity;
    total.reserved += stats->reserved;
    total.used += stats->used;
    total.used_slots += stats->used_slots;
    total.messages += stats->messages;
    for (const Holder& h : stats->holders) {
      Holder& sum = holders[h.process_id];
      sum.process_id = h.process_id;
      sum.is_this_process = sum.is_this_process || h.is_this_process;
      sum.slots += h.slots;
      sum.nbytes += h.nbytes;
    }
  }
  for (const auto& [id, holder] : holders) total.holders.push_back(holder);
  std::stable_sort(total.holders.begin(), total.holders.end(),
                   [](const Holder& a, const Holder& b) { return a.nbytes > b.nbytes; });
  return total;
}

absl::StatusOr<uint64_t> SlotPool::Reclaim() {
  Segment::Forget();
  FindFollowers();
  uint64_t freed = 0;
  for (const std::shared_ptr<Segment>& segment : GetSegments()) {
    absl::StatusOr<uint64_t> of_segment = segment->Reclaim();
    if (!of_segment.ok()) return of_segment;
    freed += *of_segment;
  }
  return freed;
}

// Allocates nothing: it is called when memory is freed.
void SlotPool::TrimOfProcess(size_t keep) {
  SlotPool& pool = OfProcess();
  for (size_t i = 0; pool.reserved_bytes() > keep; ++i) {
    std::shared_ptr<Segment> segment;
    {
      const StdMutexLock lock(StateMutex());
      if (i >= pool.segments_.size()) return;
      segment = pool.segments_[pool.segments_.size() - 1 - i];
    }
    if (!segment->IsIdle()) continue;
    const StdMutexLock lock(StateMutex());
    i -= std::erase(pool.segments_, segment);
  }
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
