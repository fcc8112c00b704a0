#include "dovetail/interop/ipc/record.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

// The name of the slot follows. (Handles begin with "DT".)
constexpr std::string_view kMagic = "DR2";

}  // namespace

absl::StatusOr<std::string> ToMessage(std::string handle, const SlotHold& memory) {
  if (handle.size() <= kMostMessageBytes) return handle;
  const auto message_for = [](const SlotName& name) {
    return std::string(kMagic) + name.ToBytes();
  };
  if (std::optional<SlotName> known = memory.FindCompanion(handle)) return message_for(*known);
  const uint64_t nbytes = handle.size();
  absl::StatusOr<SlotHold> slot = memory.segment()->Allocate(sizeof nbytes + nbytes);
  if (!slot.ok()) return slot.status();
  absl::StatusOr<void*> data = slot->Data();
  if (!data.ok()) return data.status();
  std::memcpy(*data, &nbytes, sizeof nbytes);
  std::memcpy(static_cast<char*>(*data) + sizeof nbytes, handle.data(), nbytes);
  const SlotName name = slot->name();
  memory.KeepCompanion(std::move(handle), *std::move(slot));
  return message_for(name);
}

absl::StatusOr<std::string> FromMessage(std::string_view message) {
  if (!message.starts_with(kMagic)) return std::string(message);
  absl::StatusOr<SlotName> name = SlotName::FromBytes(message.substr(kMagic.size()));
  if (!name.ok()) return absl::InvalidArgumentError(name.status().message());
  absl::StatusOr<SlotHold> slot = SlotHold::Open(*name);
  if (!slot.ok()) return slot.status();
  absl::StatusOr<void*> data = slot->Data();
  if (!data.ok()) return data.status();
  // Copied before anything of it is looked at: other processes can write to it.
  uint64_t nbytes = 0;
  std::memcpy(&nbytes, *data, sizeof nbytes);
  if (nbytes > slot->nbytes() - sizeof nbytes) {
    return absl::InvalidArgumentError(
        "This is not a handle of shared memory: what it names was written over.");
  }
  return std::string(static_cast<const char*>(*data) + sizeof nbytes, nbytes);
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
