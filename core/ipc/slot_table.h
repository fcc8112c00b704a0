// SlotTable: the slots of a segment, in memory that several processes map.
//
// A segment's memory is divided into granules of 4 KiB, and each slot has some consecutive ones. A
// slot is used as long as a process holds it, or a message of a living process that is still to be
// opened. Each process that uses the segment is a participant with a number below 256, and each
// slot has a bit per participant, and a word for each sender of messages with their number.
// Taking, holding and dropping a slot change single words, so that a process can be killed at any
// instruction:
//
//   - a bit of a dead participant is cleared by Sweep(), and so are its messages;
//   - a slot without holders that nobody freed is freed by Sweep();
//   - a free slot that no index lists is listed again by Sweep().
//
// How a slot is freed: whoever clears the last bit marks it kRetiring, looks at the bits again, and
// makes it kFree. Whoever holds it meanwhile sets its bit first and then moves it back to kUsed, so
// that exactly one of the two succeeds.
//
// The functions up to Drop() are lock-free. Threads of one process are the same participant: their
// calls with the same slot exclude each other (Segment has a mutex). The functions below that
// change the division into slots; they need the structure lock (participants.h), too. A slot's size
// and the end of the carved memory each change by a single store, in which the change takes effect.
//
// What other processes of this user have written is checked: a damaged table is never read outside
// of its bounds, and no walk is endless.

#ifndef DOVETAIL_CORE_IPC_SLOT_TABLE_H_
#define DOVETAIL_CORE_IPC_SLOT_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "dovetail/core/config.h"
#include "dovetail/core/ipc/slot_word.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

DOVETAIL_NOT_SHARED inline constexpr size_t kGranuleBytes = 4096;
DOVETAIL_NOT_SHARED inline constexpr int kMostParticipants = 256;

// The bit of a number in its word of a bitmap with 64 numbers a word.
constexpr uint64_t MaskOf(uint64_t number) { return uint64_t{1} << number % 64; }

// A set of participants.
using Participants = std::array<uint64_t, kMostParticipants / 64>;

// Messages of one sender that hold a slot.
struct SlotMessages {
  int sender = 0;      // a participant
  uint32_t count = 0;  // how often they are still to be opened; 0: there are none
};
// How many participants can have messages of one slot, and how many each.
DOVETAIL_NOT_SHARED inline constexpr int kMostSenders = 4;
DOVETAIL_NOT_SHARED inline constexpr uint32_t kMostMessages = (1u << 24) - 1;

class SlotTable {
 public:
  using Slot = uint64_t;  // the number of its first granule

  // How many bytes the table of so many granules needs, of zeros at first. A header per granule
  // comes last.
  static size_t BytesFor(uint64_t granules);
  static size_t BytesBeforeHeaders(uint64_t granules);
  static constexpr size_t kHeaderBytes = 64;

  SlotTable(void* memory, uint64_t granules);

  // How many granules belong to slots. Memory beyond was never used, or was given back.
  uint64_t carved() const;
  uint64_t size(Slot slot) const;    // in granules; 0 if there is no slot
  uint64_t needed(Slot slot) const;  // of these: what CutSlack leaves
  SlotWord word(Slot slot) const;
  // Participants or messages, except a participant.
  bool HasHolders(Slot slot, int except = -1) const;
  Participants Holders(Slot slot) const;
  std::array<SlotMessages, kMostSenders> messages(Slot slot) const;

  // Takes a free slot of `count` granules or a little more. Its memory has what was in it last.
  std::optional<Slot> Take(int me, uint64_t count);
  // Sets this participant's bit. False, and without a trace, if the slot has another generation.
  bool Hold(int me, Slot slot, uint64_t generation);
  // Clears this participant's bit, and frees the slot if it was the last. True if it is now free.
  bool Drop(int me, Slot slot);
  // Begins a new generation of a slot that is held: from now on nobody holds it by an older name.
  void Renew(Slot slot);
  // As many more messages of a slot that `me` holds are to be opened. False if they, or their
  // senders, are too many. Calls of one participant exclude each other.
  bool AddMessages(int me, Slot slot, uint32_t count);
  // Some of them were opened, by a participant that holds the slot already.
  void TakeMessages(int sender, Slot slot, uint32_t count);
  // Sets the bit of a participant that is about to be, for a slot that `me` holds.
  void HoldFor(int other, Slot slot);

  // ---- Under the structure lock ----

  // Takes new memory after the last slot. Nothing if fewer than `count` granules are left.
  std::optional<Slot> Carve(int me, uint64_t count);
  // Takes the smallest free slot of at least `count` granules, and splits off what is more.
  std::optional<Slot> TakeAndSplit(int me, uint64_t count);
  // Frees what Take gave beyond what was asked for. Under the mutex of this process's slots, too.
  void CutSlack(int me);
  // Makes one slot of free ones that adjoin, and gives those at the end back to the rest.
  void Merge();
  // Clears the bits of `dead`, and frees every slot without a holder. Returns the freed granules.
  uint64_t Sweep(const Participants& dead);

  // Calls f(slot) for each slot, in order. f may change the slot's size.
  void ForEach(absl::FunctionRef<void(Slot)> f) const;

 private:
  struct Header;

  static int ClassOf(uint64_t count);
  std::atomic<uint64_t>& SummaryOf(int size_class, uint64_t word) const;
  void List(Slot slot);
  std::optional<Slot> TakeListed(int me, uint64_t count, int size_class, uint64_t word);
  bool TakeAt(int me, Slot slot, uint64_t count);
  bool Retire(Slot slot);
  void CutTo(Slot slot, uint64_t count, uint64_t size);
  bool Reshape(Slot slot);
  void SetBit(int participant, Slot slot);
  void ClearBit(int participant, Slot slot);

  const uint64_t granules_;
  std::atomic<uint64_t>* const carved_;
  Header* const headers_;
  std::atomic<uint64_t>* const listed_;     // a bit per granule: a slot there may be free
  std::atomic<uint64_t>* const summaries_;  // by class: a bit per word of listed_
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SLOT_TABLE_H_
