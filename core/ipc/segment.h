// Segment: memory that several processes map, divided into slots which they hold.
//
//   absl::StatusOr<std::shared_ptr<Segment>> segment = Segment::Create(1 << 20);
//   absl::StatusOr<SlotHold> slot = (*segment)->Allocate(4096);
//   std::memcpy(*slot->Data(), source, 4096);
//   Send(slot->name().ToBytes());
//   // in another process
//   absl::StatusOr<SlotHold> there = SlotHold::Open(*SlotName::FromBytes(Receive()));
//
// A slot is held by a process as long as that has a SlotHold of it, and is free again when no
// living process holds it. Its name can be opened while somebody holds it; later it is stale, and
// opening it is FailedPrecondition. A message of SlotHold::AddMessages holds its slot, too, until
// it is opened or its sender has ended. A process that has the segment mapped opens, holds and
// frees slots without a system call. Whatever a killed process held is freed by the next allocation
// that needs it, or by Reclaim(). (slot_table.h and participants.h say how.)
//
// The file is in /dev/shm and exists as long as its maker holds the Segment; its mode is 0600.
// Pages are reserved when a slot first gets them, so that a full /dev/shm is an error and not a
// SIGBUS, and stay when the slot is freed. A process maps each segment once, and keeps the mapping
// until nothing in it is held and the maker has closed the segment or ended. (That it was killed is
// noticed when the next segment is mapped.)
//
// Who maps a segment can read and write all of it. A name with read_only gives an address in a
// second mapping, which can't be written; a process that opens only such names has no other.
//
// Opening trusts no name: see segment_file.h for what is checked. A process of the same user can
// still truncate the file later; an access is then a SIGBUS, as for any mapped file.
//
// Forks: a child holds what its parent held at the fork (in segments of kHostMemory), and unlinks
// none of its files. If it can't (there is no descriptor, or the parent has given up its rights),
// the parent goes on to hold that as long as it lives. Any thread.

#ifndef DOVETAIL_CORE_IPC_SEGMENT_H_
#define DOVETAIL_CORE_IPC_SEGMENT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/std_mutex.h"
#include "dovetail/core/ipc/pool_options.h"
#include "dovetail/core/ipc/segment_file.h"
#include "dovetail/core/ipc/segment_folder.h"
#include "dovetail/core/ipc/slot_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

class Segment;

// What another process needs to open a slot.
struct SlotName {
  SegmentName segment;
  SlotTable::Slot slot;
  uint64_t generation;
  bool read_only = false;   // the opener's mapping can't be written
  bool is_message = false;  // of SlotHold::AddMessages: whoever opens it takes one
  uint8_t sender = 0;       // whose message it is: a participant

  // To about 20 bytes, and back. FailedPrecondition for what is no name.
  std::string ToBytes() const;
  static absl::StatusOr<SlotName> FromBytes(std::string_view bytes);
};

// Holds a slot for this process. Movable; null after a move.
class SlotHold {
 public:
  // FailedPrecondition, with a remedy, if the memory is gone, or its segment is another user's, of
  // another kind, or no segment.
  static absl::StatusOr<SlotHold> Open(const SlotName& name,
                                       SegmentKind kind = SegmentKind::kHostMemory);
  // The slot that contains `p`, in memory that this process holds; null if there is none.
  static SlotHold FindAt(const void* p);

  // A hold as the context pointer of a release callback, and the callback.
  static void* ToContext(SlotHold hold) { return new SlotHold(std::move(hold)); }
  static void Release(void* context) { delete static_cast<SlotHold*>(context); }

  SlotHold() = default;
  SlotHold(SlotHold&& other) noexcept
      : segment_(std::move(other.segment_)), slot_(other.slot_), read_only_(other.read_only_) {
    other.segment_ = nullptr;
  }
  SlotHold& operator=(SlotHold&& other) noexcept {
    SlotHold(std::move(other)).Swap(*this);
    return *this;
  }
  ~SlotHold();

  explicit operator bool() const { return segment_ != nullptr; }
  const std::shared_ptr<Segment>& segment() const { return segment_; }
  SlotTable::Slot slot() const { return slot_; }
  // Whether Data() is in the mapping that can't be written.
  bool is_read_only() const { return read_only_; }

  // ResourceExhausted if the memory can't be mapped.
  absl::StatusOr<void*> Data() const;
  size_t nbytes() const;
  SlotName name() const;

  // Leaves the hold to the process, for owners that know only an address in the slot. TakeKept
  // gives it back, once for each Keep.
  static void Keep(SlotHold hold);
  static SlotHold TakeKept(const void* p);

  // The slot is held until so many more messages of this process have been taken, or it has ended.
  // The name is that of such a message. ResourceExhausted for more than kMostMessages, and for
  // messages of more than kMostSenders processes; Unavailable in a child that does not take part.
  absl::StatusOr<SlotName> AddMessages(uint32_t count) const;
  // What was opened by the name of a message has been taken over.
  void TakeMessages(const SlotName& name, uint32_t count = 1) const;
  // From now on nobody opens the slot by the names that it had so far.
  void Renew();
  // Whether this process has other SlotHolds of it.
  bool HasOtherHolds() const;
  // Whether other processes hold it. `thorough`: ignores those that have ended, at the cost of some
  // system calls.
  bool IsHeldByOthers(bool thorough) const;
  // Writes to the start of the slot without a mapping that can be written. False if that fails.
  bool Write(std::string_view bytes) const;
  // Keeps `other` until this process no longer holds this slot. `key` is for FindCompanion. Returns
  // the name of the one that is kept: that of an earlier call with this key, if there was one.
  SlotName KeepCompanion(std::string key, SlotHold other) const;
  // The name of the slot that is kept under the key.
  std::optional<SlotName> FindCompanion(std::string_view key) const;

 private:
  friend class Segment;
  SlotHold(std::shared_ptr<Segment> segment, SlotTable::Slot slot, bool read_only)
      : segment_(std::move(segment)), slot_(slot), read_only_(read_only) {}
  void Swap(SlotHold& other) noexcept {
    segment_.swap(other.segment_);
    std::swap(slot_, other.slot_);
    std::swap(read_only_, other.read_only_);
  }

  std::shared_ptr<Segment> segment_;
  SlotTable::Slot slot_ = 0;
  bool read_only_ = false;
};

class Segment : public std::enable_shared_from_this<Segment> {
 public:
  // A segment with room for `nbytes` bytes, rounded up to granules of 4 KiB. Zeros at first. Fails
  // as MakeSegmentFile does.
  static absl::StatusOr<std::shared_ptr<Segment>> Create(
      size_t nbytes, SegmentKind kind = SegmentKind::kHostMemory,
      SegmentBacking backing = SegmentBacking::kNamed);
  // Fails as OpenSegmentFile and CheckSegmentFile do.
  static absl::StatusOr<std::shared_ptr<Segment>> Open(SegmentName name,
                                                       SegmentKind kind = SegmentKind::kHostMemory);
  static absl::StatusOr<std::shared_ptr<Segment>> Attach(int file);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // Whether Allocate failed for want of room, and not of pages.
  static bool IsFull(const absl::Status& status);

  SegmentName name() const { return name_; }
  SegmentKind kind() const { return kind_; }
  size_t nbytes() const { return granules_ * kGranuleBytes; }
  // The descriptor of an anonymous segment, to send. It stays the segment's. -1 for others, which
  // are opened by name. (The one with the locks would keep this process's number where it is sent.)
  int file() const { return sent_file_; }
  // Whether this process made it.
  bool is_mine() const { return is_mine_; }
  // Whether its maker has released it or is about to end: other processes can't map it any more.
  bool is_closed() const { return head_->closed.load() != 0; }
  // Whether the process that made it lives. For a segment with a name.
  bool has_maker() const;
  bool is_anonymous() const { return backing_ == SegmentBacking::kAnonymous; }
  SegmentHead& head() const { return *head_; }

  // A slot of at least `nbytes` bytes with any content, at a multiple of 4 KiB. ResourceExhausted
  // if there is no room, even after Reclaim, or no page; Unavailable if the segment can't be
  // locked.
  absl::StatusOr<SlotHold> Allocate(size_t nbytes);
  // The same without a system call: null if that needs one, or is not possible.
  SlotHold TryAllocate(size_t nbytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(StateMutex());

  size_t reserved_bytes() const { return head_->reserved.load() * kGranuleBytes; }
  // Frees what ended processes held. Returns the number of bytes.
  absl::StatusOr<uint64_t> Reclaim();
  // Whether no living process holds anything.
  bool IsIdle();
  // Unmaps segments of which nothing is held: what its maker has closed, and what was kept for
  // messages that have been opened since.
  static void Forget();
  absl::StatusOr<PoolStats> Stats();

 private:
  friend class SlotHold;
  struct Local;  // what this process knows of the slots
  struct Tables;

  Segment(const SegmentFile& file, bool is_mine);
  static Tables& GetTables();
  static absl::StatusOr<std::shared_ptr<Segment>> Map(const SegmentFile& file, bool is_mine)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(StructureMutex());
  static absl::StatusOr<std::shared_ptr<Segment>> Checked(std::shared_ptr<Segment> segment,
                                                          SegmentKind kind);
  static absl::StatusOr<std::shared_ptr<Segment>> OpenFile(SegmentName name, SegmentKind kind)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(StructureMutex());
  static std::shared_ptr<Segment> FindOpen(SegmentName name);
  // Keeps the segment while messages of this process are to be opened.
  void KeepForMessages() ABSL_EXCLUSIVE_LOCKS_REQUIRED(StateMutex());
  bool HasMessages() const;
  static std::shared_ptr<Segment> TakeFrom(std::vector<std::shared_ptr<Segment>>& all,
                                           const Segment* segment)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(StateMutex());

  absl::Status MapTable();
  // Fails as Data() does.
  absl::StatusOr<void*> MapFile(size_t offset, size_t nbytes, int access);
  absl::StatusOr<char*> Mapping(bool read_only) ABSL_LOCKS_EXCLUDED(StateMutex());
  SlotHold Note(SlotTable::Slot slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(StateMutex());
  void AddReference(SlotTable::Slot slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(StateMutex());
  bool Hold(SlotTable::Slot slot, uint64_t generation);
  void Release(SlotTable::Slot slot) noexcept;
  absl::StatusOr<SlotHold> AllocateSlowly(uint64_t count);
  SlotHold TakeOrCarve(uint64_t count, absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(StructureMutex());
  void WakeWaiting();

  // Participation.
  absl::Status JoinIfNeeded();
  absl::Status Join() ABSL_EXCLUSIVE_LOCKS_REQUIRED(StructureMutex());
  int TakeNumberOf(int file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(StructureMutex());
  uint64_t SweepDead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(StructureMutex());
  // SegmentHandlers of segment_folder.h, called with both mutexes held.
  void PrepareFork() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void ForgetFork();
  void BecomeChild() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  template <typename F>
  void ForEachHeld(F f);  // f(slot)
  template <void (Segment::*kHandler)()>
  static void ForAll() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  static void BecomeChildForAll() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Close();
  static const SegmentHandlers kHandlers;

  const SegmentName name_;
  const SegmentKind kind_;
  const SegmentBacking backing_;
  const uint64_t granules_;
  const SegmentParts parts_;
  int file_;            // has the locks, and is never mapped: a child's mappings would keep them
  int sent_file_ = -1;  // of an anonymous segment: the same file, opened once more
  bool is_mine_;
  SegmentHead* head_ = nullptr;
  std::optional<SlotTable> table_;
  std::unique_ptr<Local> local_;
  std::atomic<char*> mappings_[2] = {};  // of the data: to write, and to read only
  // This process's number among the participants. Changes with both mutexes held.
  std::atomic<int> me_ = -1;
  uint64_t held_slots_ ABSL_GUARDED_BY(StateMutex()) = 0;  // by this process
  // Whether it is among the tables' with_messages.
  bool has_sent_ ABSL_GUARDED_BY(StateMutex()) = false;
  // Itself, while slots are kept.
  std::shared_ptr<Segment> self_ ABSL_GUARDED_BY(StateMutex());
  uint64_t kept_ ABSL_GUARDED_BY(StateMutex()) = 0;
  int child_file_ = -1, child_ = -1;  // a child's, while fork() runs
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SEGMENT_H_
