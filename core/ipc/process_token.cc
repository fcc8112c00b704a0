#include "dovetail/core/ipc/process_token.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr std::string_view kPrefix = "dovetail.";
constexpr std::string_view kAlive = "alive";

// Never destroyed, since tensors may be destroyed while the process exits.
struct State {
  std::mutex mutex;
  std::optional<ProcessToken> token;
  int file = -1;  // the token's file, locked
};
State& GetState() {
  static State* const state = new State;
  return *state;
}

void UnlinkAtExit() {
  UnlinkMySegments();
  const std::lock_guard lock(GetState().mutex);
  if (GetState().token) unlink(FileName(*GetState().token, kAlive).c_str());
}

// A forked child shares the open file, to which the lock belongs. The child closes it, so that the
// lock ends with the parent.
void ForgetInChild() {
  State& state = GetState();
  if (state.file >= 0) close(state.file);
  state.file = -1;
  state.token.reset();
  state.mutex.unlock();
}

void HandleForksAndExit() {
  static const bool done = [] {
    pthread_atfork([] { GetState().mutex.lock(); }, [] { GetState().mutex.unlock(); },
                   &ForgetInChild);
    return std::atexit(&UnlinkAtExit) == 0;
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

int OpenToken(ProcessToken token, int flags) {
  return open(FileName(token, kAlive).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

uint64_t Random() {
  uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number || number == 0) {
  }
  return number;
}

// Dovetail's file names in the folder, by token.
std::map<uint64_t, std::vector<std::string>> FilesByToken() {
  std::map<uint64_t, std::vector<std::string>> found;
  DIR* folder = opendir(kFolder);
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    std::string_view name = entry->d_name;
    uint64_t token = 0;
    if (!absl::ConsumePrefix(&name, kPrefix) || name.size() < 17 || name[16] != '.' ||
        !absl::SimpleHexAtoi(name.substr(0, 16), &token)) {
      continue;
    }
    found[token].push_back(absl::StrCat(kFolder, entry->d_name));
  }
  closedir(folder);
  return found;
}

int UnlinkOwn(const std::vector<std::string>& paths) {
  int count = 0;
  for (const std::string& path : paths) {
    struct stat facts;
    if (lstat(path.c_str(), &facts) != 0 || facts.st_uid != geteuid()) continue;
    count += unlink(path.c_str()) == 0;
  }
  return count;
}

}  // namespace

std::mutex& StateMutex() {
  HandleForksAndExit();
  return GetState().mutex;
}

std::string FileName(ProcessToken token, std::string_view suffix) {
  return absl::StrCat(kFolder, kPrefix, absl::Hex(static_cast<uint64_t>(token), absl::kZeroPad16),
                      ".", suffix);
}

absl::StatusOr<ProcessToken> MyProcess() {
  State& state = GetState();
  {
    const std::lock_guard lock(StateMutex());
    if (state.token) return *state.token;
  }
  UnlinkLeftBehind();
  const std::lock_guard lock(state.mutex);
  for (int attempt = 0; !state.token && attempt < 100; ++attempt) {
    const ProcessToken token{Random()};
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
      unlink(FileName(token, kAlive).c_str());
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
  {
    const std::lock_guard lock(StateMutex());
    if (GetState().token == token) return true;
  }
  const int file = OpenToken(token, 0);
  if (file < 0) return errno != ENOENT;
  struct flock lock = LockOf(Bytes::kFirst);
  const bool asked = fcntl(file, F_OFD_GETLK, &lock) == 0;
  close(file);
  return !asked || lock.l_type != F_UNLCK;
}

int UnlinkLeftBehind() {
  int count = 0;
  for (const auto& [number, paths] : FilesByToken()) {
    const ProcessToken token{number};
    const int file = OpenToken(token, 0);
    if (file < 0 && errno != ENOENT) continue;
    // With this lock held, the owner is dead and no other process unlinks its files.
    if (file < 0 || Lock(file, Bytes::kSecond)) count += UnlinkOwn(paths);
    if (file >= 0) close(file);
  }
  return count;
}

void UnlinkMySegments() {
  std::optional<ProcessToken> token;
  {
    const std::lock_guard lock(StateMutex());
    token = GetState().token;
  }
  if (!token) return;
  const std::string alive = FileName(*token, kAlive);
  for (auto& [number, paths] : FilesByToken()) {
    if (ProcessToken{number} != *token) continue;
    std::erase(paths, alive);
    UnlinkOwn(paths);
  }
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
