#include "dovetail/core/ipc/participants.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr off_t kStructureByte = off_t{1} << 60;

struct flock WriteLock(off_t start, off_t nbytes) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = nbytes;
  return lock;
}

off_t BytesOf(int participant) { return kStructureByte + 2 + off_t{2} * participant; }

bool TryLock(int file, off_t start, off_t nbytes) {
  struct flock lock = WriteLock(start, nbytes);
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

void Unlock(int file, off_t start, off_t nbytes) {
  struct flock lock = WriteLock(start, nbytes);
  lock.l_type = F_UNLCK;
  fcntl(file, F_OFD_SETLK, &lock);
}

void Pause() {
  const timespec time = {.tv_sec = 0, .tv_nsec = 100'000};
  nanosleep(&time, nullptr);
}

}  // namespace

int OpenAgain(int file) {
  char path[40];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  // With O_NONBLOCK, the call does not wait for whoever has a lease on the file.
  return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

bool TakeNumber(int file, int participant) { return TryLock(file, BytesOf(participant), 2); }
void ReturnNumber(int file, int participant) { Unlock(file, BytesOf(participant), 2); }

bool IsTaken(int file, int participant) {
  struct flock lock = WriteLock(BytesOf(participant), 1);
  return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// Without this byte nobody takes the number.
bool TryCleaning(int file, int participant) {
  return TryLock(file, BytesOf(participant) + 1, 1);
}

bool BeginCleaning(int file, int participant) {
  while (!IsTaken(file, participant)) {
    if (TryCleaning(file, participant)) return true;
    Pause();
  }
  return false;
}

void EndCleaning(int file, int participant) { Unlock(file, BytesOf(participant) + 1, 1); }

absl::Status StructureLock::Acquire(int file) {
  const absl::Time deadline = absl::Now() + absl::Seconds(5);
  do {
    if (TryLock(file, kStructureByte, 1)) return absl::OkStatus();
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
      return absl::UnavailableError(
          absl::StrCat("Shared memory can't be locked: ", std::strerror(errno), "."));
    }
    Pause();
  } while (absl::Now() < deadline);
  return absl::UnavailableError(
      "Another process has kept the table of the shared memory locked for five seconds: it may be "
      "stopped. End it or let it go on.");
}

StructureLock::~StructureLock() {
  if (status_.ok()) Unlock(file_, kStructureByte, 1);
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
