#include <unistd.h>

#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segment_tables.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

// The segment, the slot, the generation, the sender, and what is true of it.
constexpr size_t kSlotAt = sizeof(SegmentName), kSlotBytes = 4;
constexpr size_t kGenerationAt = kSlotAt + kSlotBytes, kGenerationBytes = 5;
constexpr size_t kSenderAt = kGenerationAt + kGenerationBytes;
constexpr size_t kNameBytes = kSenderAt + 2;

static_assert(SlotWord::kGenerationBits == 8 * kGenerationBytes);
static_assert(std::endian::native == std::endian::little);

}  // namespace

std::string SlotName::ToBytes() const {
  char bytes[kNameBytes];
  std::memcpy(bytes, &segment, sizeof segment);
  std::memcpy(bytes + kSlotAt, &slot, kSlotBytes);
  std::memcpy(bytes + kGenerationAt, &generation, kGenerationBytes);
  bytes[kSenderAt] = static_cast<char>(sender);
  bytes[kNameBytes - 1] = static_cast<char>((read_only ? 1 : 0) | (is_message ? 2 : 0));
  return std::string(bytes, kNameBytes);
}

absl::StatusOr<SlotName> SlotName::FromBytes(std::string_view bytes) {
  if (bytes.size() != kNameBytes || static_cast<unsigned char>(bytes.back()) > 3) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The handle's name of the memory, of ", bytes.size(), " bytes, is not one of ", kNameBytes,
        " bytes: it was made for another kind of device, or by another version of Dovetail."));
  }
  SlotName name = {};
  std::memcpy(&name.segment, bytes.data(), sizeof name.segment);
  std::memcpy(&name.slot, bytes.data() + kSlotAt, kSlotBytes);
  std::memcpy(&name.generation, bytes.data() + kGenerationAt, kGenerationBytes);
  name.sender = static_cast<uint8_t>(bytes[kSenderAt]);
  name.read_only = (bytes.back() & 1) != 0;
  name.is_message = (bytes.back() & 2) != 0;
  return name;
}

absl::StatusOr<SlotHold> SlotHold::Open(const SlotName& name, SegmentKind kind) {
  absl::StatusOr<std::shared_ptr<Segment>> segment = Segment::Open(name.segment, kind);
  if (!segment.ok()) return segment.status();
  if (absl::Status s = (*segment)->JoinIfNeeded(); !s.ok()) return s;
  if (!(*segment)->Hold(name.slot, name.generation)) return ReleasedError();
  return SlotHold(*std::move(segment), name.slot, name.read_only);
}

SlotHold SlotHold::FindAt(const void* p) {
  const StdMutexLock lock(StateMutex());
  const auto& by_address = Segment::GetTables().by_address;
  auto found = by_address.upper_bound(static_cast<const char*>(p));
  if (found == by_address.begin()) return {};
  const auto& [data, range] = *--found;
  const auto offset = static_cast<size_t>(static_cast<const char*>(p) - data);
  if (offset >= range.nbytes) return {};
  Segment& segment = *range.segment;
  // The nearest slot before it that this process holds.
  const uint64_t granule = offset / kGranuleBytes;
  uint64_t mask = ~uint64_t{0} >> (63 - granule % 64);
  for (uint64_t word = granule / 64 + 1; word-- > 0; mask = ~uint64_t{0}) {
    const uint64_t bits = segment.local_->held[word] & mask;
    if (bits == 0) continue;
    const SlotTable::Slot slot = word * 64 + 63 - static_cast<uint64_t>(std::countl_zero(bits));
    if (granule - slot >= segment.table_->size(slot)) return {};
    SlotHold hold = segment.Note(slot);
    hold.read_only_ = range.read_only;
    return hold;
  }
  return {};
}

SlotHold::~SlotHold() {
  if (segment_ != nullptr) segment_->Release(slot_);
}

absl::StatusOr<void*> SlotHold::Data() const {
  absl::StatusOr<char*> mapping = segment_->Mapping(read_only_);
  if (!mapping.ok()) return mapping.status();
  return *mapping + slot_ * kGranuleBytes;
}

size_t SlotHold::nbytes() const { return segment_->table_->needed(slot_) * kGranuleBytes; }

SlotName SlotHold::name() const {
  return {.segment = segment_->name_,
          .slot = slot_,
          .generation = segment_->table_->word(slot_).generation(),
          .read_only = read_only_};
}

void SlotHold::Keep(SlotHold hold) {
  const StdMutexLock lock(StateMutex());
  Segment& segment = *hold.segment_;
  if (segment.kept_++ == 0) segment.self_ = std::move(hold.segment_);
  hold.segment_ = nullptr;
}

SlotHold SlotHold::TakeKept(const void* p) {
  SlotHold found = FindAt(p);
  if (!found) return found;
  std::shared_ptr<Segment> self;  // dropped after the unlock
  const StdMutexLock lock(StateMutex());
  Segment& segment = *found.segment_;
  --segment.local_->references[found.slot_];
  if (--segment.kept_ == 0) self = std::move(segment.self_);
  return found;
}

absl::StatusOr<SlotName> SlotHold::AddMessages(uint32_t count) const {
  const StdMutexLock lock(StateMutex());
  const int me = segment_->me_.load();
  if (me < 0) {
    return absl::UnavailableError(
        "This forked process does not take part in the shared memory, and can't keep it.");
  }
  if (!segment_->table_->AddMessages(me, slot_, count)) {
    return absl::ResourceExhaustedError(absl::StrCat("A tensor can have at most ", kMostMessages,
                                                     " messages of each of ", kMostSenders,
                                                     " processes that are still to be opened."));
  }
  segment_->KeepForMessages();
  SlotName message = name();
  message.is_message = true;
  message.sender = static_cast<uint8_t>(me);
  return message;
}

void SlotHold::TakeMessages(const SlotName& name, uint32_t count) const {
  if (name.is_message) segment_->table_->TakeMessages(name.sender, slot_, count);
}

void SlotHold::Renew() {
  // (A forked child that holds nothing leaves its parent's names as they are.)
  if (segment_->me_.load() >= 0) segment_->table_->Renew(slot_);
}

bool SlotHold::HasOtherHolds() const {
  const StdMutexLock lock(StateMutex());
  return segment_->local_->references[slot_] > 1;
}

bool SlotHold::IsHeldByOthers(bool thorough) const {
  const int me = segment_->me_.load();
  if (!segment_->table_->HasHolders(slot_, me)) return false;
  if (thorough) (void)segment_->Reclaim();
  return segment_->table_->HasHolders(slot_, me);
}

SlotName SlotHold::KeepCompanion(std::string key, SlotHold other) const {
  const StdMutexLock lock(StateMutex());
  // Of two threads, the first one's is kept.
  return segment_->local_->companions[slot_]
      .try_emplace(std::move(key), std::move(other))
      .first->second.name();
}

bool SlotHold::Write(std::string_view bytes) const {
  if (bytes.size() > nbytes()) return false;
  const size_t start = segment_->parts_.data + slot_ * kGranuleBytes;
  if (!MayWriteTo(start + bytes.size())) return false;
  const ssize_t written =
      pwrite(segment_->file_, bytes.data(), bytes.size(), static_cast<off_t>(start));
  return written == static_cast<ssize_t>(bytes.size());
}

std::optional<SlotName> SlotHold::FindCompanion(std::string_view key) const {
  const StdMutexLock lock(StateMutex());
  const auto of_slot = segment_->local_->companions.find(slot_);
  if (of_slot == segment_->local_->companions.end()) return std::nullopt;
  const auto found = of_slot->second.find(key);
  if (found == of_slot->second.end()) return std::nullopt;
  return found->second.name();
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
