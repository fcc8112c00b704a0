#include "dovetail/interop/ipc/record.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

// The name of the slot follows. (Handles begin with "DT".)
constexpr std::string_view kMagic = "DR3";

}  // namespace

absl::StatusOr<std::string> ToMessage(std::string handle, const SlotHold& memory, uint32_t opens) {
  if (handle.size() <= kMostMessageBytes) return handle;
  const auto message_for = [opens](SlotName name) -> absl::StatusOr<std::string> {
    if (opens != 0) {
      absl::StatusOr<SlotHold> record = SlotHold::Open(name);
      if (!record.ok()) return record.status();
      absl::StatusOr<SlotName> message = record->AddMessages(opens);
      if (!message.ok()) return message.status();
      name = *message;
    }
    // Read by a mapping that can't be written, so that it opens no other one of the segment.
    name.read_only = true;
    return std::string(kMagic) + name.ToBytes();
  };
  if (std::optional<SlotName> known = memory.FindCompanion(handle)) return message_for(*known);
  const uint64_t nbytes = handle.size();
  absl::StatusOr<SlotHold> slot = memory.segment()->Allocate(sizeof nbytes + nbytes);
  if (!slot.ok()) {
    return absl::Status(
        slot.status().code(),
        absl::StrCat("The tensor's layout is too long for a message and needs 4 KiB beside the "
                     "tensor, in the same file: ",
                     slot.status().message(), " Share a tensor of fewer dimensions, or a copy."));
  }
  const std::string bytes =
      std::string(reinterpret_cast<const char*>(&nbytes), sizeof nbytes) + handle;
  if (!slot->Write(bytes)) {
    return absl::UnavailableError(
        "The file of the shared memory can't be written: is there a limit of file sizes?");
  }
  return message_for(memory.KeepCompanion(std::move(handle), *std::move(slot)));
}

absl::StatusOr<OpenedMessage> FromMessage(std::string_view message) {
  if (!message.starts_with(kMagic)) return OpenedMessage{.handle = std::string(message)};
  absl::StatusOr<SlotName> name = SlotName::FromBytes(message.substr(kMagic.size()));
  if (!name.ok()) return absl::InvalidArgumentError(name.status().message());
  name->read_only = true;
  absl::StatusOr<SlotHold> slot = SlotHold::Open(*name);
  if (!slot.ok()) return slot.status();
  absl::StatusOr<void*> data = slot->Data();
  if (!data.ok()) return data.status();
  // Copied before anything of it is looked at: other processes can write to it.
  uint64_t nbytes = 0;
  const size_t most = slot->nbytes();
  if (most >= sizeof nbytes) std::memcpy(&nbytes, *data, sizeof nbytes);
  if (most < sizeof nbytes || nbytes > most - sizeof nbytes) {
    return absl::InvalidArgumentError(
        "This is not a handle of shared memory: what it names was written over.");
  }
  std::string handle(static_cast<const char*>(*data) + sizeof nbytes, nbytes);
  return OpenedMessage{.handle = std::move(handle), .record = *std::move(slot), .name = *name};
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
