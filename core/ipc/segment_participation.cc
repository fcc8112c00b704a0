// How a process takes part in a segment, what becomes of it in forks, and what is done for those
// that have ended.

#include <unistd.h>

#include <atomic>
#include <bit>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dovetail/core/ipc/participants.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segment_tables.h"
#include "dovetail/core/ipc/structure_lock.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
bool Segment::has_maker() const { return is_mine_ || IsTaken(file_, kMaker); }

absl::Status Segment::JoinIfNeeded() {
  if (me_.load() >= 0) return absl::OkStatus();
  const StdMutexLock lock(StructureMutex());
  return Join();
}

absl::Status Segment::Join() {
  if (me_.load() >= 0) return absl::OkStatus();
  if (file_ < 0) {
    return absl::UnavailableError(
        "This process was forked without a descriptor of the shared memory, and can't open the file "
        "again: it has other rights, or another /dev/shm.");
  }
  const int number = TakeNumberOf(file_);
  if (number < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("The shared memory is open in ", kMostParticipants,
                     " processes already, which is the most, or can't be locked."));
  }
  head_->process_ids[number].store(static_cast<uint32_t>(getpid()));
  const StdMutexLock state(StateMutex());
  me_.store(number);
  return absl::OkStatus();
}

// For an open file. -1 if living processes have all numbers, or the structure lock for long.
int Segment::TakeNumberOf(int file) {
  bool is_swept = false;
  for (int attempt = 0; attempt < 50; ++attempt) {
    for (int i = 0; i < kMostParticipants; ++i) {
      std::atomic<uint64_t>& numbers = head_->numbers[i / 64];
      if ((numbers.load() & MaskOf(i)) != 0 || !TakeNumber(file, i)) continue;
      // An ended process may have had it meanwhile, and still have bits.
      if ((numbers.fetch_or(MaskOf(i)) & MaskOf(i)) == 0) return i;
      ReturnNumber(file, i);
    }
    if (file_ < 0 || is_swept) break;
    if (TryLockStructure(file_)) {
      SweepDead();
      StructureLock::GiveBack(file_, *head_);
      is_swept = true;
    } else {
      absl::SleepFor(absl::Milliseconds(1));  // not for long: a fork may wait
    }
  }
  return -1;
}

// Needs the structure lock. Returns the number of granules that were freed.
uint64_t Segment::SweepDead() {
  const int me = me_.load();
  Participants dead = {};
  for (int i = 0; i < kMostParticipants; ++i) {
    if ((head_->numbers[i / 64].load() & MaskOf(i)) == 0 || i == me) continue;
    if (BeginCleaning(file_, i)) dead[i / 64] |= MaskOf(i);
  }
  const uint64_t freed = table_->Sweep(dead);
  for (int i = 0; i < kMostParticipants; ++i) {
    if ((dead[i / 64] & MaskOf(i)) == 0) continue;
    head_->process_ids[i].store(0);
    head_->numbers[i / 64].fetch_and(~MaskOf(i));
    EndCleaning(file_, i);
  }
  if (freed != 0) WakeWaiting();
  return freed;
}

absl::StatusOr<PoolStats> Segment::Stats() {
  const StructureLock structure(file_, *head_);
  if (!structure.status().ok()) return structure.status();
  SweepDead();
  PoolStats stats;
  stats.capacity = stats.most_bytes = nbytes();
  stats.reserved = reserved_bytes();
  std::vector<Holder> holders(kMostParticipants);
  table_->ForEach([&](SlotTable::Slot slot) {
    Participants of_slot = table_->Holders(slot);
    for (const SlotMessages messages : table_->messages(slot)) {
      if (messages.count != 0) of_slot[messages.sender / 64] |= MaskOf(messages.sender);
      stats.messages += messages.count;
    }
    if (of_slot == Participants{} || table_->word(slot).state() != SlotState::kUsed) return;
    const uint64_t nbytes = table_->size(slot) * kGranuleBytes;
    stats.used += nbytes;
    ++stats.used_slots;
    for (int i = 0; i < kMostParticipants; ++i) {
      if ((of_slot[i / 64] >> i % 64 & 1) == 0) continue;
      holders[i].slots += 1;
      holders[i].nbytes += nbytes;
    }
  });
  const StdMutexLock state(StateMutex());
  for (int i = 0; i < kMostParticipants; ++i) {
    if (holders[i].slots == 0) continue;
    holders[i].process_id = head_->process_ids[i].load();
    holders[i].is_this_process = i == me_;
    stats.holders.push_back(holders[i]);
  }
  return stats;
}

void Segment::KeepForMessages() {
  if (!has_sent_) GetTables().with_messages.push_back(shared_from_this());
  has_sent_ = true;
}

bool Segment::HasMessages() const {
  bool has_messages = false;
  table_->ForEach([&](SlotTable::Slot slot) {
    for (const SlotMessages messages : table_->messages(slot)) {
      has_messages = has_messages || (messages.count != 0 && messages.sender == me_.load());
    }
  });
  return has_messages;
}

template <typename F>
void Segment::ForEachHeld(F f) {
  for (uint64_t word = 0; word * 64 < granules_; ++word) {
    for (uint64_t bits = local_->held[word]; bits != 0; bits &= bits - 1) {
      f(word * 64 + static_cast<uint64_t>(std::countr_zero(bits)));
    }
  }
}

// Whatever this process holds, the child is to hold, too: under a number that it takes over. Its
// lock belongs to an open file that both have until the parent closes it.
void Segment::PrepareFork() {
  if (kind_ != SegmentKind::kHostMemory || held_slots_ == 0) return;
  child_file_ = me_.load() < 0 ? -1 : OpenOnceMore(name_, backing_, file_);
  child_ = child_file_ < 0 ? -1 : TakeNumberOf(child_file_);
  if (child_ >= 0) return ForEachHeld([&](SlotTable::Slot slot) { table_->HoldFor(child_, slot); });
  // There is no descriptor or number, or this process has given up its rights: it holds for the
  // child what it holds now, as long as it lives.
  ForEachHeld([&](SlotTable::Slot slot) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    uint64_t& forever = local_->held_for_children[slot / 64];
    if ((forever & MaskOf(slot)) != 0) return;
    forever |= MaskOf(slot);
    AddReference(slot);
    if (kept_++ == 0) self_ = shared_from_this();
  });
}

// If the fork failed, this ends the child that never was.
void Segment::ForgetFork() {
  if (child_file_ >= 0) close(child_file_);
  child_file_ = child_ = -1;
}

void Segment::BecomeChild() {
  const int parents = file_;
  if (child_ < 0 && child_file_ >= 0) close(child_file_);
  file_ = child_ >= 0 ? child_file_ : OpenOnceMore(name_, backing_, parents);
  // So that the parent's lock ends with the parent. It may also be the descriptor that was missing.
  if (parents >= 0) close(parents);
  if (file_ < 0 && !is_anonymous()) file_ = OpenOnceMore(name_, backing_, -1);
  // The parent holds for it what PrepareFork could not: now it may be able to do so itself.
  if (child_ < 0 && file_ >= 0 && kind_ == SegmentKind::kHostMemory && held_slots_ != 0) {
    me_.store(-1);
    child_ = TakeNumberOf(file_);
    if (child_ >= 0) ForEachHeld([&](SlotTable::Slot slot) { table_->HoldFor(child_, slot); });
  }
  me_.store(child_);
  if (child_ >= 0) head_->process_ids[child_].store(static_cast<uint32_t>(getpid()));
  child_file_ = child_ = -1;
  is_mine_ = false;
}

template <void (Segment::*kHandler)()>
void Segment::ForAll() {
  for (const auto& [name, entry] : GetTables().by_name) (entry.segment->*kHandler)();
  for (Segment* segment : GetTables().orphans) (segment->*kHandler)();
}

// A child that does not hold what its parent held opens the file anew: what it opened by the same
// Segment would count as held already.
void Segment::BecomeChildForAll() {
  ForAll<&Segment::BecomeChild>();
  Tables& tables = GetTables();
  for (auto i = tables.by_name.begin(); i != tables.by_name.end();) {
    Segment* const segment = i->second.segment;
    if (segment->file_ >= 0 && (segment->me_.load() >= 0 || segment->held_slots_ == 0)) {
      ++i;
    } else {
      tables.orphans.push_back(segment);
      i = tables.by_name.erase(i);
    }
  }
}

void Segment::Close() {
  if (is_mine_) head_->closed.store(1);
}

const SegmentHandlers Segment::kHandlers = {&ForAll<&Segment::PrepareFork>,
                                            &ForAll<&Segment::ForgetFork>, &BecomeChildForAll,
                                            &ForAll<&Segment::Close>};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
