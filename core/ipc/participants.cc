#include "dovetail/core/ipc/participants.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

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
bool TryCleaning(int file, int participant) { return TryLock(file, BytesOf(participant) + 1, 1); }

bool BeginCleaning(int file, int participant) {
  for (int attempt = 0; attempt < 1000 && !IsTaken(file, participant); ++attempt) {
    if (TryCleaning(file, participant)) return true;
    const timespec time = {.tv_sec = 0, .tv_nsec = 100'000};
    nanosleep(&time, nullptr);
  }
  return false;
}

void EndCleaning(int file, int participant) { Unlock(file, BytesOf(participant) + 1, 1); }

bool TryLockStructure(int file) { return TryLock(file, kStructureByte, 1); }
void UnlockStructure(int file) { Unlock(file, kStructureByte, 1); }

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
