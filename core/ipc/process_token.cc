#include "dovetail/core/ipc/process_token.h"

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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr char kPrefix[] = "dovetail.";
constexpr std::string_view kAlive = "alive";

// Never destroyed, since tensors may be destroyed while the process exits.
struct State {
  StdMutex structure_mutex;
  StdMutex mutex;
  std::atomic<const SegmentHandlers*> segment_handlers = nullptr;
  std::optional<ProcessToken> token ABSL_GUARDED_BY(mutex);
  int file ABSL_GUARDED_BY(mutex) = -1;  // the token's file, locked
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
  {
    const StdMutexLock lock(state.mutex);
    if (state.token) unlink(FilePath(*state.token, kAlive).c_str());
  }
  UnlinkLeftBehind();
}

// A forked child shares the open file, to which the lock belongs. The child closes it, so that the
// lock ends with the parent.
void ForgetInChild() {
  State& state = GetState();
  state.mutex.AssertHeld();
  if (state.file >= 0) close(state.file);
  state.file = -1;
  state.token.reset();
  state.has_unlinked_at_exit = false;
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
  ForgetInChild();
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

// A living process holds both bytes. A process that unlinks the files of an ended one holds only
// the second byte meanwhile, so that nobody takes it for the ended process.
enum class Bytes { kBoth, kFirst, kSecond };

struct flock LockOf(Bytes bytes) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = bytes == Bytes::kSecond ? 1 : 0;
  lock.l_len = bytes == Bytes::kBoth ? 2 : 1;
  return lock;
}

// An open-file-description lock, which also excludes other opens of the same process.
bool Lock(int file, Bytes bytes) {
  struct flock lock = LockOf(bytes);
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

// With O_NONBLOCK, the call does not wait for whoever has a lease on the file.
int OpenToken(ProcessToken token, int flags) {
  return open(FilePath(token, kAlive).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags,
              0600);
}

// Calls use(token, suffix) for each of Dovetail's files in the folder.
template <typename Use>
void ForEachFile(Use use) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(kFolder), &closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder.get())) {
    std::string_view name = entry->d_name;
    uint64_t token = 0;
    if (!absl::ConsumePrefix(&name, kPrefix) || name.size() < 17 || name.size() > 17 + 16 ||
        name[16] != '.' || !absl::SimpleHexAtoi(name.substr(0, 16), &token)) {
      continue;
    }
    use(ProcessToken{token}, name.substr(17));
  }
}

absl::Status ExitingError() {
  return absl::UnavailableError("Memory can't be shared with other processes during exit().");
}

bool UnlinkOwn(const FilePath& path) {
  struct stat facts;
  return lstat(path.c_str(), &facts) == 0 && facts.st_uid == geteuid() && unlink(path.c_str()) == 0;
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
  if (file >= 0) return file;
  return absl::UnavailableError(
      absl::StrCat("A file in ", kFolder, " can't be made: ", std::strerror(errno), "."));
}

FilePath::FilePath(ProcessToken token, std::string_view suffix) noexcept {
  std::snprintf(text_, sizeof text_, "%s%s%016llx.%.*s", kFolder, kPrefix,
                static_cast<unsigned long long>(token), static_cast<int>(suffix.size()),
                suffix.data());
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
  const StdMutexLock lock(state.mutex);
  if (state.has_unlinked_at_exit) return ExitingError();
  for (int attempt = 0; !state.token && attempt < 100; ++attempt) {
    const absl::StatusOr<uint64_t> number = RandomNumber();
    if (!number.ok()) return number.status();
    const ProcessToken token{*number};
    const int file = OpenToken(token, O_CREAT | O_EXCL);
    if (file < 0) {
      return absl::UnavailableError(
          absl::StrCat("Memory can't be shared with other processes, for want of a file in ",
                       kFolder, ": ", std::strerror(errno), "."));
    }
    // Before the lock was taken, another process may have unlinked the file as left behind.
    struct stat facts;
    if (Lock(file, Bytes::kBoth) && fstat(file, &facts) == 0 && facts.st_nlink == 1) {
      state.file = file;
      state.token = token;
    } else {
      unlink(FilePath(token, kAlive).c_str());
      close(file);
    }
  }
  if (!state.token) {
    return absl::UnavailableError(absl::StrCat(
        "Memory can't be shared with other processes: files in ", kFolder, " can't be locked."));
  }
  return *state.token;
}

bool IsAlive(ProcessToken token) {
  HandleForksAndExit();
  {
    State& state = GetState();
    const StdMutexLock lock(state.mutex);
    if (state.token == token) return true;
  }
  const int file = OpenToken(token, 0);
  if (file < 0) return errno != ENOENT;
  struct flock lock = LockOf(Bytes::kFirst);
  const bool asked = fcntl(file, F_OFD_GETLK, &lock) == 0;
  close(file);
  return !asked || lock.l_type != F_UNLCK;
}

int UnlinkLeftBehind() {
  std::map<ProcessToken, std::vector<std::string>> suffixes;
  ForEachFile(
      [&](ProcessToken token, std::string_view suffix) { suffixes[token].emplace_back(suffix); });
  int count = 0;
  for (const auto& [token, of_token] : suffixes) {
    const int file = OpenToken(token, 0);
    if (file < 0 && errno != ENOENT) continue;
    const absl::Cleanup close_file = [file] {
      if (file >= 0) close(file);
    };
    // With this lock held, the owner is dead and no other process unlinks its files.
    if (file >= 0 && !Lock(file, Bytes::kSecond)) continue;
    for (const std::string& suffix : of_token) count += UnlinkOwn(FilePath(token, suffix));
  }
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
  ForEachFile([&](ProcessToken token, std::string_view suffix) {
    if (token == *mine && suffix != kAlive) UnlinkOwn(FilePath(token, suffix));
  });
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
