#include "dovetail/core/ipc/structure_lock.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dovetail/core/ipc/futex.h"
#include "dovetail/core/ipc/participants.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr absl::Duration kLongestTurn = absl::Seconds(5);
constexpr absl::Duration kLongestWait = absl::Minutes(1);  // for many turns of others
// A process that is killed wakes nobody.
constexpr absl::Duration kLongestSleep = absl::Milliseconds(2);

}  // namespace

StructureLock::StructureLock(int file, SegmentHead& head) : file_(file), head_(head) {
  StructureMutex().Lock();
  const absl::Duration last = SteadyNow() + kLongestWait;
  absl::Duration deadline = last;
  bool has_waited = false;
  for (uint32_t turn = head.turns.load();;) {
    if (TryLockStructure(file)) break;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
      status_ = absl::UnavailableError(
          absl::StrCat("Shared memory can't be locked: ", std::strerror(errno), "."));
      return;
    }
    const absl::Duration now = SteadyNow();
    const uint32_t next = head.turns.load();
    if (!has_waited || next != turn) deadline = std::min(last, now + kLongestTurn);
    if (now >= deadline) {
      status_ = absl::UnavailableError(
          "Another process keeps the table of the shared memory locked: it may be stopped. End it "
          "or let it go on.");
      return;
    }
    has_waited = true;
    head.is_awaited.store(1);
    StructureMutex().Unlock();
    WaitForFutex(head.turns, turn, kLongestSleep);
    StructureMutex().Lock();
    turn = next;
  }
  // There may be others.
  if (has_waited) head.is_awaited.store(1);
}

void StructureLock::GiveBack(int file, SegmentHead& head) {
  UnlockStructure(file);
  head.turns.fetch_add(1);
  if (head.is_awaited.load() != 0 && head.is_awaited.exchange(0) != 0) WakeFutex(head.turns, 1);
}

StructureLock::~StructureLock() {
  if (status_.ok()) GiveBack(file_, head_);
  StructureMutex().Unlock();
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
