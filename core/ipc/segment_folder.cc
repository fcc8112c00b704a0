#include "dovetail/core/ipc/segment_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dovetail/core/ipc/participants.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr char kPrefix[] = "dovetail.3.";

// Never destroyed, since tensors may be destroyed while the process exits.
struct State {
  StdMutex structure_mutex;
  StdMutex mutex;
  std::atomic<const SegmentHandlers*> segment_handlers = nullptr;
  std::optional<ProcessToken> token ABSL_GUARDED_BY(mutex);
  bool has_unlinked_at_exit ABSL_GUARDED_BY(mutex) = false;
};
State& GetState() {
  static State* const state = new State;
  return *state;
}

void UnlinkAtExit() {
  State& state = GetState();
  {
    const StdMutexLock lock(state.mutex);
    state.has_unlinked_at_exit = true;
  }
  UnlinkMySegments();
  UnlinkLeftBehind();
}

void CallSegments(void (*SegmentHandlers::*handler)()) {
  const SegmentHandlers* handlers = GetState().segment_handlers.load();
  if (handlers != nullptr) (handlers->*handler)();
}

void BeforeFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  GetState().structure_mutex.Lock();
  GetState().mutex.Lock();
  CallSegments(&SegmentHandlers::before_fork);
}
void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  GetState().mutex.Unlock();
  GetState().structure_mutex.Unlock();
}
void AfterForkInParent() {
  CallSegments(&SegmentHandlers::in_parent);
  UnlockAfterFork();
}
void AfterForkInChild() {
  State& state = GetState();
  state.mutex.AssertHeld();
  state.token.reset();
  state.has_unlinked_at_exit = false;
  CallSegments(&SegmentHandlers::in_child);
  UnlockAfterFork();
}

void HandleForksAndExit() {
  static const bool done = [] {
    return pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild) == 0 &&
           std::atexit(&UnlinkAtExit) == 0;
  }();
  (void)done;
}

// Calls use(token, path) for each of Dovetail's files in the folder.
template <typename Use>
void ForEachFile(Use use) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(kFolder), &closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder.get())) {
    std::string_view name = entry->d_name;
    uint64_t token = 0, number = 0;
    if (absl::ConsumePrefix(&name, kPrefix) && name.size() > 17 && name.size() <= 17 + 16 &&
        name[16] == '.' && absl::SimpleHexAtoi(name.substr(0, 16), &token) &&
        absl::SimpleHexAtoi(name.substr(17), &number)) {
      use(ProcessToken{token}, FilePath(ProcessToken{token}, number));
    }
  }
}

absl::Status ExitingError() {
  return absl::UnavailableError("Memory can't be shared with other processes during exit().");
}

bool IsOwn(const FilePath& path) {
  struct stat facts;
  return lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid();
}

}  // namespace

StdMutex& StateMutex() {
  HandleForksAndExit();
  return GetState().mutex;
}

StdMutex& StructureMutex() {
  HandleForksAndExit();
  return GetState().structure_mutex;
}

void SetSegmentHandlers(const SegmentHandlers* handlers) {
  GetState().segment_handlers.store(handlers);
}

absl::StatusOr<int> MakeFile(const FilePath& path) {
  HandleForksAndExit();
  State& state = GetState();
  const StdMutexLock lock(state.mutex);
  if (state.has_unlinked_at_exit) return ExitingError();
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    return absl::UnavailableError(
        absl::StrCat("A file in ", kFolder, " can't be made: ", std::strerror(errno), "."));
  }
  // Before the lock was taken, another process may have begun to unlink the file as left behind.
  struct stat facts;
  if (TakeNumber(file, kMaker) && fstat(file, &facts) == 0 && facts.st_nlink == 1) return file;
  unlink(path.c_str());
  close(file);
  return absl::AbortedError(absl::StrCat("Memory can't be shared with other processes: a file in ",
                                         kFolder, " can't be locked."));
}

// With O_NONBLOCK, open() does not wait for whoever has a lease on the file.
int OpenFile(const FilePath& path) {
  return open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

FilePath::FilePath(ProcessToken token, uint64_t number) noexcept {
  std::snprintf(text_, sizeof text_, "%s%s%016llx.%llx", kFolder, kPrefix,
                static_cast<unsigned long long>(token), static_cast<unsigned long long>(number));
}

absl::StatusOr<uint64_t> RandomNumber() {
  for (uint64_t number = 0;;) {
    const ssize_t nbytes = getrandom(&number, sizeof number, 0);
    if (nbytes == sizeof number && number != 0) return number;
    if (nbytes < 0 && errno != EINTR) {
      return absl::UnavailableError(
          absl::StrCat("Memory can't be shared with other processes, for want of a random number: ",
                       std::strerror(errno), "."));
    }
  }
}

absl::StatusOr<ProcessToken> MyProcess() {
  HandleForksAndExit();
  State& state = GetState();
  {
    const StdMutexLock lock(state.mutex);
    if (state.token) return *state.token;
  }
  UnlinkLeftBehind();
  const absl::StatusOr<uint64_t> number = RandomNumber();
  if (!number.ok()) return number.status();
  const StdMutexLock lock(state.mutex);
  if (state.has_unlinked_at_exit) return ExitingError();
  if (!state.token) state.token = ProcessToken{*number};
  return *state.token;
}

int UnlinkLeftBehind() {
  int count = 0;
  std::optional<ProcessToken> living;  // was found last
  ForEachFile([&](ProcessToken token, const FilePath& path) {
    if (token == living || !IsOwn(path)) return;
    const int file = OpenFile(path);
    if (file < 0) return;
    // With this lock, its maker has ended, and no other process unlinks it.
    if (TryCleaning(file, kMaker)) {
      count += unlink(path.c_str()) == 0;
    } else {
      living = token;
    }
    close(file);
  });
  return count;
}

void UnlinkMySegments() {
  std::optional<ProcessToken> mine;
  {
    State& state = GetState();
    const StdMutexLock structure(state.structure_mutex);
    const StdMutexLock lock(state.mutex);
    mine = state.token;
    CallSegments(&SegmentHandlers::before_unlink);
  }
  if (!mine) return;
  ForEachFile([&](ProcessToken token, const FilePath& path) {
    if (token == *mine && IsOwn(path)) unlink(path.c_str());
  });
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
