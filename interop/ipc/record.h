// Handles that are too long for a message: their bytes go into a slot of shared memory, and the
// message names the slot.

#ifndef DOVETAIL_INTEROP_IPC_RECORD_H_
#define DOVETAIL_INTEROP_IPC_RECORD_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/ipc/segment.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

DOVETAIL_NOT_SHARED inline constexpr size_t kMostMessageBytes = 64;

// `handle` itself if it has at most kMostMessageBytes bytes; else a message that names a slot with
// it, in the segment of `memory`, which exists as long as this process holds `memory`, and until it
// has been opened `opens` times. ResourceExhausted if there is no room for it.
absl::StatusOr<std::string> ToMessage(std::string handle, const SlotHold& memory,
                                      uint32_t opens = 0);

struct OpenedMessage {
  std::string handle;  // its bytes
  SlotHold record;     // null if the message is the handle
  SlotName name = {};  // of the record

  // The tensor has been opened: the record is no longer kept for this time.
  void Take() const {
    if (record) record.TakeMessages(name);
  }
};
// FailedPrecondition if the slot is gone.
absl::StatusOr<OpenedMessage> FromMessage(std::string_view message);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_RECORD_H_
