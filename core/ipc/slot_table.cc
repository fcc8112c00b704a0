#include "dovetail/core/ipc/slot_table.h"

#include <algorithm>
#include <bit>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr uint64_t WordsFor(uint64_t bits) { return (bits + 63) / 64; }

// How many granules more than it needs Take may give.
constexpr uint64_t SlackOf(uint64_t count) { return count / 8; }

// Messages as a word of 32 bits: the sender, then the count.
constexpr int kCountBits = 24;
uint32_t Word(int sender, uint32_t count) {
  return count == 0 ? 0 : static_cast<uint32_t>(sender) << kCountBits | count;
}
SlotMessages Read(uint32_t word) {
  return {.sender = static_cast<int>(word >> kCountBits), .count = word & kMostMessages};
}

}  // namespace

// On a cache line of its own.
struct SlotTable::Header {
  std::atomic<uint64_t> word;
  std::atomic<uint64_t> holders[kMostParticipants / 64];
  std::atomic<uint32_t> size;
  std::atomic<uint32_t> needed;                  // of its granules; 0 while that is unknown
  std::atomic<uint32_t> messages[kMostSenders];  // each a SlotMessages, or 0
};

// Classes 0 to 6 have 1 to 7 granules each. From 8 granules on, each power of two has four classes.
int SlotTable::ClassOf(uint64_t count) {
  if (count < 8) return static_cast<int>(count) - 1;
  const int power = std::bit_width(count) - 1;
  return 7 + (power - 3) * 4 + static_cast<int>(count >> (power - 2) & 3);
}

size_t SlotTable::BytesBeforeHeaders(uint64_t granules) {
  const uint64_t words = WordsFor(granules);
  const uint64_t classes = static_cast<uint64_t>(ClassOf(granules)) + 1;
  const uint64_t numbers = 8 + words + classes * WordsFor(words);
  return (numbers * 8 + 63) / 64 * 64;
}

size_t SlotTable::BytesFor(uint64_t granules) {
  static_assert(sizeof(Header) == kHeaderBytes);
  return BytesBeforeHeaders(granules) + granules * sizeof(Header);
}

SlotTable::SlotTable(void* memory, uint64_t granules)
    : granules_(granules),
      carved_(static_cast<std::atomic<uint64_t>*>(memory)),
      headers_(
          reinterpret_cast<Header*>(static_cast<char*>(memory) + BytesBeforeHeaders(granules))),
      listed_(carved_ + 8),
      summaries_(listed_ + WordsFor(granules)) {}

uint64_t SlotTable::carved() const { return std::min(carved_->load(), granules_); }

uint64_t SlotTable::size(Slot slot) const {
  if (slot >= granules_) return 0;
  const uint64_t size = headers_[slot].size.load();
  return size > granules_ - slot ? 0 : size;
}

uint64_t SlotTable::needed(Slot slot) const {
  const uint64_t size = this->size(slot);
  const uint64_t needed = size == 0 ? 0 : headers_[slot].needed.load();
  return needed == 0 ? size : std::min(needed, size);
}

SlotWord SlotTable::word(Slot slot) const {
  return slot < granules_ ? SlotWord(headers_[slot].word.load()) : SlotWord(0);
}

Participants SlotTable::Holders(Slot slot) const {
  Participants holders = {};
  if (slot >= granules_) return holders;
  for (size_t i = 0; i < holders.size(); ++i) holders[i] = headers_[slot].holders[i].load();
  return holders;
}

std::array<SlotMessages, kMostSenders> SlotTable::messages(Slot slot) const {
  std::array<SlotMessages, kMostSenders> messages = {};
  if (slot >= granules_) return messages;
  for (size_t i = 0; i < messages.size(); ++i) messages[i] = Read(headers_[slot].messages[i]);
  return messages;
}

// The participants first: a sender has its bit when it adds messages, and an opener sets its own
// before it takes one.
bool SlotTable::HasHolders(Slot slot, int except) const {
  Participants holders = Holders(slot);
  if (except >= 0) holders[except / 64] &= ~MaskOf(except);
  if (holders != Participants{}) return true;
  const auto all = messages(slot);
  return std::any_of(all.begin(), all.end(), [](SlotMessages m) { return m.count != 0; });
}

void SlotTable::SetBit(int participant, Slot slot) {
  headers_[slot].holders[participant / 64].fetch_or(MaskOf(participant));
}
void SlotTable::ClearBit(int participant, Slot slot) {
  headers_[slot].holders[participant / 64].fetch_and(~MaskOf(participant));
}

std::atomic<uint64_t>& SlotTable::SummaryOf(int size_class, uint64_t word) const {
  return summaries_[size_class * WordsFor(WordsFor(granules_)) + word / 64];
}

// The bit first, then the summary: TakeListed looks in the opposite order.
void SlotTable::List(Slot slot) {
  const uint64_t count = size(slot);
  if (count == 0) return;
  listed_[slot / 64].fetch_or(MaskOf(slot));
  SummaryOf(ClassOf(count), slot / 64).fetch_or(MaskOf(slot / 64));
}

bool SlotTable::TakeAt(int me, Slot slot, uint64_t count) {
  Header& header = headers_[slot];
  const SlotWord before(header.word.load());
  const uint64_t size = this->size(slot);
  if (before.state() != SlotState::kFree) {
    listed_[slot / 64].fetch_and(~MaskOf(slot));
    // It may have been freed and listed meanwhile.
    if (word(slot).state() == SlotState::kFree) List(slot);
    return false;
  }
  if (size < count || size > count + SlackOf(count)) return false;
  SetBit(me, slot);
  uint64_t expected = before.bits();
  if (!header.word.compare_exchange_strong(expected, before.To(SlotState::kUsed).bits())) {
    ClearBit(me, slot);
    Retire(slot);
    return false;
  }
  header.needed.store(static_cast<uint32_t>(count));
  listed_[slot / 64].fetch_and(~MaskOf(slot));
  return true;
}

std::optional<SlotTable::Slot> SlotTable::TakeListed(int me, uint64_t count, int size_class,
                                                     uint64_t word) {
  std::atomic<uint64_t>& summary = SummaryOf(size_class, word);
  for (int pass = 0; pass < 2; ++pass) {
    bool is_in_class = false;
    for (uint64_t bits = listed_[word].load(); bits != 0; bits &= bits - 1) {
      const Slot slot = word * 64 + static_cast<uint64_t>(std::countr_zero(bits));
      const uint64_t size = this->size(slot);
      if (size == 0 || ClassOf(size) != size_class) continue;
      if (TakeAt(me, slot, count)) return slot;
      is_in_class = is_in_class || this->word(slot).state() == SlotState::kFree;
    }
    if (is_in_class) {
      if (pass == 1) summary.fetch_or(MaskOf(word));
      break;
    }
    // Looks once more after the bit is cleared, for what was listed in between.
    if (pass == 0) summary.fetch_and(~MaskOf(word));
  }
  return std::nullopt;
}

std::optional<SlotTable::Slot> SlotTable::Take(int me, uint64_t count) {
  if (count == 0 || count > granules_) return std::nullopt;
  const uint64_t words = WordsFor(granules_);
  const int last = ClassOf(std::min(count + SlackOf(count), granules_));
  for (int size_class = ClassOf(count); size_class <= last; ++size_class) {
    for (uint64_t first = 0; first < words; first += 64) {
      for (uint64_t bits = SummaryOf(size_class, first).load(); bits != 0; bits &= bits - 1) {
        const uint64_t word = first + static_cast<uint64_t>(std::countr_zero(bits));
        if (word >= words) break;
        if (const auto slot = TakeListed(me, count, size_class, word)) return slot;
      }
    }
  }
  return std::nullopt;
}

bool SlotTable::Hold(int me, Slot slot, uint64_t generation) {
  if (slot >= carved()) return false;
  SetBit(me, slot);
  std::atomic<uint64_t>& word = headers_[slot].word;
  uint64_t bits = word.load();
  while (SlotWord(bits).generation() == generation) {
    const SlotState state = SlotWord(bits).state();
    if (state == SlotState::kUsed) return true;
    if (state != SlotState::kRetiring) break;
    if (word.compare_exchange_weak(bits, SlotWord(bits).To(SlotState::kUsed).bits())) return true;
  }
  ClearBit(me, slot);
  Retire(slot);
  return false;
}

bool SlotTable::AddMessages(int me, Slot slot, uint32_t count) {
  // First where this participant has some, then where nobody has.
  for (const bool is_new : {false, true}) {
    for (std::atomic<uint32_t>& messages : headers_[slot].messages) {
      uint32_t word = messages.load();
      while (is_new ? word == 0 : word != 0 && Read(word).sender == me) {
        if (count > kMostMessages - Read(word).count) return false;
        if (messages.compare_exchange_weak(word, Word(me, Read(word).count + count))) return true;
      }
    }
  }
  return false;
}

void SlotTable::TakeMessages(int sender, Slot slot, uint32_t count) {
  for (std::atomic<uint32_t>& messages : headers_[slot].messages) {
    uint32_t word = messages.load();
    while (word != 0 && Read(word).sender == sender) {
      const uint32_t left = Read(word).count - std::min(count, Read(word).count);
      if (messages.compare_exchange_weak(word, Word(sender, left))) return;
    }
  }
}

void SlotTable::HoldFor(int other, Slot slot) { SetBit(other, slot); }

bool SlotTable::Drop(int me, Slot slot) {
  ClearBit(me, slot);
  return Retire(slot);
}

// Frees the slot if nobody holds it. Whoever finds it kRetiring leaves it: the other one looks at
// the bits again before it gives up.
bool SlotTable::Retire(Slot slot) {
  std::atomic<uint64_t>& word = headers_[slot].word;
  while (!HasHolders(slot)) {
    uint64_t bits = word.load();
    if (SlotWord(bits).state() != SlotState::kUsed) return false;
    const SlotWord retiring = SlotWord(bits).To(SlotState::kRetiring);
    if (!word.compare_exchange_strong(bits, retiring.bits())) continue;
    bits = retiring.bits();
    headers_[slot].needed.store(0);
    if (HasHolders(slot)) {
      word.compare_exchange_strong(bits, retiring.To(SlotState::kUsed).bits());
    } else if (word.compare_exchange_strong(bits, retiring.Next(SlotState::kFree).bits())) {
      List(slot);
      return true;
    }
  }
  return false;
}

void SlotTable::Renew(Slot slot) {
  std::atomic<uint64_t>& word = headers_[slot].word;
  uint64_t bits = word.load();
  while (!word.compare_exchange_weak(bits, SlotWord(bits).Next(SlotState::kUsed).bits())) {
  }
  for (std::atomic<uint32_t>& m : headers_[slot].messages) m.store(0);  // they can't be opened now
}

void SlotTable::ForEach(absl::FunctionRef<void(Slot)> f) const {
  for (Slot slot = 0; slot < carved();) {
    f(slot);
    const uint64_t count = size(slot);
    if (count == 0) return;  // damaged
    slot += count;
  }
}

std::optional<SlotTable::Slot> SlotTable::Carve(int me, uint64_t count) {
  const Slot slot = carved();
  if (count == 0 || count > granules_ - slot) return std::nullopt;
  Header& header = headers_[slot];
  header.size.store(static_cast<uint32_t>(count));
  header.needed.store(0);
  for (std::atomic<uint64_t>& holders : header.holders) holders.store(0);
  for (std::atomic<uint32_t>& messages : header.messages) messages.store(0);
  SetBit(me, slot);
  header.word.store(word(slot).Next(SlotState::kUsed).bits());
  carved_->store(slot + count);
  return slot;
}

bool SlotTable::Reshape(Slot slot) {
  uint64_t bits = word(slot).bits();
  return SlotWord(bits).state() == SlotState::kFree &&
         headers_[slot].word.compare_exchange_strong(
             bits, SlotWord(bits).To(SlotState::kReshaping).bits());
}

// Splits the slot after its first `count` granules; the rest becomes a free slot. The slot must not
// change hands meanwhile: it is kReshaping, or this participant holds it.
void SlotTable::CutTo(Slot slot, uint64_t count, uint64_t size) {
  const Slot second = slot + count;
  Header& rest = headers_[second];
  rest.size.store(static_cast<uint32_t>(size - count));
  rest.needed.store(0);
  for (std::atomic<uint64_t>& holders : rest.holders) holders.store(0);
  for (std::atomic<uint32_t>& messages : rest.messages) messages.store(0);
  rest.word.store(word(second).Next(SlotState::kReshaping).bits());
  headers_[slot].size.store(static_cast<uint32_t>(count));
  rest.word.store(word(second).To(SlotState::kFree).bits());
  List(second);
}

std::optional<SlotTable::Slot> SlotTable::TakeAndSplit(int me, uint64_t count) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::optional<Slot> best;
    uint64_t best_size = 0;
    ForEach([&](Slot slot) {
      const uint64_t size = this->size(slot);
      if (word(slot).state() != SlotState::kFree || size < count) return;
      if (!best || size < best_size) best = slot, best_size = size;
    });
    if (!best) return std::nullopt;
    if (!Reshape(*best)) continue;
    if (best_size > count) CutTo(*best, count, best_size);
    SetBit(me, *best);
    headers_[*best].word.store(word(*best).To(SlotState::kUsed).bits());
    listed_[*best / 64].fetch_and(~MaskOf(*best));
    return best;
  }
  return std::nullopt;
}

void SlotTable::CutSlack(int me) {
  ForEach([&](Slot slot) {
    const uint64_t size = this->size(slot);
    if (headers_[slot].needed.load() == 0) return;
    // With this participant's bit, nobody frees it.
    const bool is_held = (Holders(slot)[me / 64] & MaskOf(me)) != 0;
    if (!is_held && !Hold(me, slot, word(slot).generation())) return;
    const uint64_t needed = headers_[slot].needed.load();
    if (needed != 0 && needed < size) CutTo(slot, needed, size);
    if (!is_held) Drop(me, slot);
  });
}

void SlotTable::Merge() {
  const auto finish = [&](std::optional<Slot> merged) {
    if (!merged) return;
    if (*merged + size(*merged) == carved()) {
      carved_->store(*merged);
      headers_[*merged].word.store(word(*merged).To(SlotState::kNone).bits());
      return;
    }
    headers_[*merged].word.store(word(*merged).To(SlotState::kFree).bits());
    List(*merged);
  };
  std::optional<Slot> merged;  // kReshaping
  ForEach([&](Slot slot) {
    if (!Reshape(slot)) {
      finish(merged);
      merged.reset();
    } else if (!merged) {
      merged = slot;
    } else {
      headers_[*merged].size.store(static_cast<uint32_t>(slot - *merged + size(slot)));
      headers_[slot].word.store(word(slot).To(SlotState::kNone).bits());
    }
  });
  finish(merged);
}

uint64_t SlotTable::Sweep(const Participants& dead) {
  uint64_t freed = 0;
  ForEach([&](Slot slot) {
    Header& header = headers_[slot];
    for (size_t i = 0; i < dead.size(); ++i) {
      if (dead[i] != 0) header.holders[i].fetch_and(~dead[i]);
    }
    for (std::atomic<uint32_t>& messages : header.messages) {
      uint32_t word = messages.load();
      const int sender = Read(word).sender;
      if ((dead[sender / 64] & MaskOf(sender)) != 0) messages.compare_exchange_strong(word, 0);
    }
    uint64_t bits = header.word.load();
    const SlotWord word(bits);
    if (word.state() == SlotState::kReshaping) {
      // Its process has ended: no other can be at it now.
      header.word.store(word.To(SlotState::kFree).bits());
    } else if (word.state() == SlotState::kRetiring) {
      header.word.compare_exchange_strong(bits, word.To(SlotState::kUsed).bits());
    }
    if (Retire(slot)) freed += size(slot);
    if (this->word(slot).state() == SlotState::kFree) List(slot);
  });
  return freed;
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
