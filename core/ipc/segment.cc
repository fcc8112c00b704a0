#include "dovetail/core/ipc/segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <new>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/ipc/futex.h"
#include "dovetail/core/ipc/participants.h"
#include "dovetail/core/ipc/segment_tables.h"
#include "dovetail/core/ipc/structure_lock.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr std::string_view kFullText = "The shared memory is full.";

uint64_t GranulesFor(size_t nbytes) {
  return std::max<uint64_t>(nbytes / kGranuleBytes + (nbytes % kGranuleBytes != 0), 1);
}

}  // namespace

// Never destroyed, like the state of the folder. It takes no memory from the heap, so that the last
// segment can always be removed.
Segment::Tables& Segment::GetTables() {
  alignas(Tables) static std::byte place[sizeof(Tables)];
  static Tables* const tables = [] {
    SetSegmentHandlers(&kHandlers);
    return new (place) Tables;
  }();
  return *tables;
}

// ---- Making, opening and releasing ----

absl::StatusOr<std::shared_ptr<Segment>> Segment::Create(size_t nbytes, SegmentKind kind,
                                                         SegmentBacking backing) {
  // From the opening of a file until it is in the tables, no thread forks: the child would keep it
  // open, and this process's number with it.
  const StdMutexLock lock(StructureMutex());
  absl::StatusOr<SegmentFile> file = MakeSegmentFile(GranulesFor(nbytes), kind, backing);
  if (!file.ok()) return file.status();
  absl::Cleanup unlink_file = [&] {
    if (backing == SegmentBacking::kNamed) unlink(PathOf(file->name).c_str());
  };
  absl::StatusOr<std::shared_ptr<Segment>> made = Map(*file, /*is_mine=*/true);
  if (!made.ok()) return made;
  std::move(unlink_file).Cancel();
  // Mapped now, since a process that gives up its rights later could not.
  if (absl::Status s = (*made)->Mapping(/*read_only=*/false).status(); !s.ok()) return s;
  return made;
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::Open(SegmentName name, SegmentKind kind) {
  if (std::shared_ptr<Segment> open = FindOpen(name); open != nullptr) return Checked(open, kind);
  absl::StatusOr<std::shared_ptr<Segment>> segment = [&] {
    const StdMutexLock lock(StructureMutex());
    return OpenFile(name, kind);
  }();
  if (!segment.ok()) return segment;
  Forget();
  const StdMutexLock lock(StateMutex());
  std::vector<std::shared_ptr<Segment>>& others = GetTables().others;
  if (std::find(others.begin(), others.end(), *segment) == others.end()) {
    others.push_back(*segment);
  }
  return segment;
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::Checked(std::shared_ptr<Segment> segment,
                                                          SegmentKind kind) {
  if (segment->kind_ == kind) return segment;
  return OtherKindError();
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::OpenFile(SegmentName name, SegmentKind kind) {
  // Another thread may have opened it meanwhile.
  if (std::shared_ptr<Segment> open = FindOpen(name); open != nullptr) return Checked(open, kind);
  absl::StatusOr<SegmentFile> file = OpenSegmentFile(name);
  if (!file.ok()) return file.status();
  if (file->kind != kind) {
    close(file->descriptor);
    return OtherKindError();
  }
  return Map(*file, /*is_mine=*/false);
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::Attach(int received) {
  const StdMutexLock lock(StructureMutex());
  absl::StatusOr<SegmentFile> file = CheckSegmentFile(received);
  if (!file.ok()) return file.status();
  if (std::shared_ptr<Segment> open = FindOpen(file->name); open != nullptr) {
    close(file->descriptor);
    return open;
  }
  return Map(*file, /*is_mine=*/false);
}

std::shared_ptr<Segment> Segment::FindOpen(SegmentName name) {
  const StdMutexLock lock(StateMutex());
  const auto found = GetTables().by_name.find(name);
  return found == GetTables().by_name.end() ? nullptr : found->second.reference.lock();
}

Segment::Segment(const SegmentFile& file, bool is_mine)
    : name_(file.name),
      kind_(file.kind),
      backing_(file.backing),
      granules_(file.granules),
      parts_(file.granules),
      file_(file.descriptor),
      is_mine_(is_mine) {
  if (!is_anonymous()) return;
  sent_file_ = file.descriptor;
  file_ = OpenAgain(sent_file_);
}

// Takes the file over.
absl::StatusOr<std::shared_ptr<Segment>> Segment::Map(const SegmentFile& file, bool is_mine) {
  absl::Cleanup close_file = [&] { close(file.descriptor); };
  std::shared_ptr<Segment> segment(new Segment(file, is_mine));
  std::move(close_file).Cancel();
  if (absl::Status s = segment->MapTable(); !s.ok()) return s;
  if (absl::Status s = segment->Join(); !s.ok()) return s;
  const StdMutexLock lock(StateMutex());
  // (One that is about to be removed may be there.)
  GetTables().by_name.insert_or_assign(file.name, Tables::Entry{segment.get(), segment});
  return segment;
}

// A few at a time: it is called for each segment that is made or opened.
void Segment::Forget() {
  using Segments = std::vector<std::shared_ptr<Segment>>;
  const auto take_some = [](Segments& from) {
    const auto end = from.begin() + std::min<std::ptrdiff_t>(std::ssize(from), 32);
    Segments some(std::move_iterator(from.begin()), std::move_iterator(end));
    from.erase(from.begin(), end);
    return some;
  };
  Segments others, with_messages;
  {
    const StdMutexLock lock(StateMutex());
    others = take_some(GetTables().others);
    with_messages = take_some(GetTables().with_messages);
    for (const std::shared_ptr<Segment>& s : with_messages) s->has_sent_ = false;
  }
  std::erase_if(
      others, [](const std::shared_ptr<Segment>& s) { return s->is_closed() || !s->has_maker(); });
  std::erase_if(with_messages, [](const std::shared_ptr<Segment>& s) {
    return s.use_count() == 1 && !s->HasMessages();
  });
  const StdMutexLock lock(StateMutex());
  for (std::shared_ptr<Segment>& s : others) GetTables().others.push_back(std::move(s));
  for (const std::shared_ptr<Segment>& s : with_messages) s->KeepForMessages();
}

// The reference that keeps a segment mapped, if there is one.
std::shared_ptr<Segment> Segment::TakeFrom(std::vector<std::shared_ptr<Segment>>& all,
                                           const Segment* segment) {
  for (std::shared_ptr<Segment>& kept : all) {
    if (kept.get() != segment) continue;
    std::shared_ptr<Segment> taken = std::move(kept);
    kept = std::move(all.back());
    all.pop_back();
    return taken;
  }
  return nullptr;
}

absl::StatusOr<void*> Segment::MapFile(size_t offset, size_t nbytes, int access) {
  const int again = OpenOnceMore(name_, backing_, file_);
  if (again < 0) return CantMap(nbytes);
  void* mapped = mmap(nullptr, nbytes, access, MAP_SHARED, again, static_cast<off_t>(offset));
  absl::Status error = mapped == MAP_FAILED ? CantMap(nbytes) : absl::OkStatus();
  close(again);
  if (!error.ok()) return error;
  return mapped;
}

absl::Status Segment::MapTable() {
  absl::StatusOr<void*> mapped = MapFile(0, parts_.data, PROT_READ | PROT_WRITE);
  if (!mapped.ok()) return mapped.status();
  head_ = static_cast<SegmentHead*>(*mapped);
  table_.emplace(static_cast<char*>(*mapped) + parts_.table, granules_);
  absl::StatusOr<LazyArray<uint32_t>> references = LazyArray<uint32_t>::Make(granules_);
  if (!references.ok()) return references.status();
  absl::StatusOr<LazyArray<uint64_t>> held = LazyArray<uint64_t>::Make(granules_ / 64 + 1);
  if (!held.ok()) return held.status();
  absl::StatusOr<LazyArray<uint64_t>> forever = LazyArray<uint64_t>::Make(granules_ / 64 + 1);
  if (!forever.ok()) return forever.status();
  local_.reset(new Local{*std::move(references), *std::move(held), *std::move(forever), {}});
  return absl::OkStatus();
}

absl::StatusOr<char*> Segment::Mapping(bool read_only) {
  std::atomic<char*>& mapping = mappings_[read_only ? 1 : 0];
  if (char* data = mapping.load()) return data;
  const StdMutexLock lock(StateMutex());
  if (char* data = mapping.load()) return data;
  const size_t nbytes = granules_ * kGranuleBytes;
  const int access = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  absl::StatusOr<void*> mapped = MapFile(parts_.data, nbytes, access);
  if (!mapped.ok()) return mapped.status();
  absl::Cleanup unmap = [&] { munmap(*mapped, nbytes); };
  char* data = static_cast<char*>(*mapped);
  GetTables().by_address[data] = {this, weak_from_this(), nbytes, read_only};
  std::move(unmap).Cancel();
  mapping.store(data);
  return data;
}

Segment::~Segment() {
  {
    const StdMutexLock lock(StateMutex());
    Tables& tables = GetTables();
    // Another thread may have mapped the file again meanwhile.
    if (const auto i = tables.by_name.find(name_);
        i != tables.by_name.end() && i->second.segment == this) {
      tables.by_name.erase(i);
    }
    std::erase(tables.orphans, this);
    for (const std::atomic<char*>& data : mappings_) tables.by_address.erase(data.load());
    if (const int me = me_.load(); me >= 0) {
      head_->process_ids[me].store(0);
      head_->numbers[me / 64].fetch_and(~MaskOf(me));
    }
    // Here, so that no fork has a file that is in no table.
    if (sent_file_ >= 0) close(sent_file_);
    if (file_ >= 0) close(file_);  // which returns the participant's number
  }
  if (is_mine_ && head_ != nullptr) head_->closed.store(1);
  if (is_mine_ && !is_anonymous()) unlink(PathOf(name_).c_str());
  for (const std::atomic<char*>& data : mappings_) {
    if (data.load() != nullptr) munmap(data.load(), granules_ * kGranuleBytes);
  }
  if (head_ != nullptr) munmap(head_, parts_.data);
}

// ---- Slots ----

void Segment::AddReference(SlotTable::Slot slot) {
  if (local_->references[slot]++ != 0) return;
  local_->held[slot / 64] |= MaskOf(slot);
  ++held_slots_;
}

SlotHold Segment::Note(SlotTable::Slot slot) {
  AddReference(slot);
  return {shared_from_this(), slot, false};
}

bool Segment::Hold(SlotTable::Slot slot, uint64_t generation) {
  if (slot >= granules_) return false;
  const StdMutexLock lock(StateMutex());
  if (local_->references[slot] != 0) {
    if (table_->word(slot).generation() != generation) return false;
    AddReference(slot);
    return true;
  }
  if (me_ < 0 || !table_->Hold(me_, slot, generation)) return false;
  // A slot of another process may have any size: it must lie inside.
  if (table_->size(slot) == 0) {
    table_->Drop(me_, slot);
    return false;
  }
  AddReference(slot);
  return true;
}

void Segment::Release(SlotTable::Slot slot) noexcept {
  std::map<std::string, SlotHold, std::less<>> companions;  // destroyed after the unlock
  std::shared_ptr<Segment> mapping;                         // the same
  bool is_freed = false;
  {
    const StdMutexLock lock(StateMutex());
    if (--local_->references[slot] != 0) return;
    local_->held[slot / 64] &= ~MaskOf(slot);
    --held_slots_;
    if (const auto i = local_->companions.find(slot); i != local_->companions.end()) {
      companions.swap(i->second);
      local_->companions.erase(i);
    }
    if (me_ >= 0) is_freed = table_->Drop(me_, slot);
    Tables& tables = GetTables();
    if (held_slots_ == 0 && is_closed() && !is_mine_) mapping = TakeFrom(tables.others, this);
    // Only the releasing SlotHold has it: its pool was dropped.
    if (held_slots_ == 0 && has_sent_ && weak_from_this().use_count() == 2 && !HasMessages()) {
      has_sent_ = false;
      mapping = TakeFrom(tables.with_messages, this);
    }
  }
  if (is_freed) WakeWaiting();
}

void Segment::WakeWaiting() {
  head_->freed.fetch_add(1);
  if (head_->waiting.load() == 0 || head_->waiting.exchange(0) == 0) return;
  WakeFutex(head_->freed, INT_MAX);
}

SlotHold Segment::TryAllocate(size_t nbytes) {
  if (me_ < 0) return {};
  const std::optional<SlotTable::Slot> slot = table_->Take(me_, GranulesFor(nbytes));
  return slot ? Note(*slot) : SlotHold();
}

absl::StatusOr<SlotHold> Segment::Allocate(size_t nbytes) {
  {
    const StdMutexLock lock(StateMutex());
    if (SlotHold hold = TryAllocate(nbytes)) return hold;
  }
  return AllocateSlowly(GranulesFor(nbytes));
}

bool Segment::IsFull(const absl::Status& status) { return status.message() == kFullText; }

absl::StatusOr<SlotHold> Segment::AllocateSlowly(uint64_t count) {
  if (absl::Status s = JoinIfNeeded(); !s.ok()) return s;
  const StructureLock structure(file_, *head_);
  if (!structure.status().ok()) return structure.status();
  absl::Status status = absl::ResourceExhaustedError(kFullText);
  if (SlotHold hold = TakeOrCarve(count, status)) return hold;
  SweepDead();
  if (SlotHold hold = TakeOrCarve(count, status)) return hold;
  return status;
}

// Takes new memory first, then splits what is free, then merges it. `status` receives the error, if
// there are no pages.
SlotHold Segment::TakeOrCarve(uint64_t count, absl::Status& status) {
  for (int pass = 0; pass < 2; ++pass) {
    const SlotTable::Slot next = table_->carved();
    bool has_pages = count <= granules_ - next;
    if (has_pages && next + count > head_->reserved.load()) {
      absl::Status s = ReservePages(file_, parts_.headers + next * SlotTable::kHeaderBytes,
                                    count * SlotTable::kHeaderBytes);
      if (s.ok()) {
        s = ReservePages(file_, parts_.data + next * kGranuleBytes, count * kGranuleBytes);
      }
      if (s.ok()) head_->reserved.store(next + count);
      has_pages = s.ok();
      if (!s.ok()) status = std::move(s);
    }
    const StdMutexLock lock(StateMutex());
    if (has_pages) {
      if (const auto slot = table_->Carve(me_, count)) return Note(*slot);
    }
    if (const auto slot = table_->TakeAndSplit(me_, count)) return Note(*slot);
    if (pass == 0) {
      table_->CutSlack(me_);
      table_->Merge();
    }
  }
  return {};
}

absl::StatusOr<uint64_t> Segment::Reclaim() {
  const StructureLock structure(file_, *head_);
  if (!structure.status().ok()) return structure.status();
  return SweepDead() * kGranuleBytes;
}

bool Segment::IsIdle() {
  {
    const StdMutexLock lock(StateMutex());
    if (held_slots_ != 0) return false;
  }
  if (!Reclaim().ok()) return false;
  bool is_idle = true;
  table_->ForEach([&](SlotTable::Slot slot) { is_idle = is_idle && !table_->HasHolders(slot); });
  return is_idle;
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
