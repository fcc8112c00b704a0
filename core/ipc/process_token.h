// ProcessToken: a number that identifies a process of this machine, and tells other processes
// whether it still lives.
//
//   absl::StatusOr<ProcessToken> mine = MyProcess();
//   if (!IsAlive(other)) ...                          // ended, or killed
//
// Each token has an empty file in /dev/shm, "dovetail.<token>.alive". The process holds a lock on
// it, which the kernel releases when the process ends. (A process id would be reused, and means
// nothing in another container.) The names of segments' files contain their maker's token
// (segment.h). A process that ends normally unlinks its files. The files of a killed process are
// unlinked by the next process of the same user that makes a token, or that ends normally after it
// has shared or opened memory.
//
// The first call of MyProcess makes the process's only token and file descriptor; a forked child
// makes its own. Any thread.

#ifndef DOVETAIL_CORE_IPC_PROCESS_TOKEN_H_
#define DOVETAIL_CORE_IPC_PROCESS_TOKEN_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/std_mutex.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// Never 0; random, so that no token is used twice.
enum class ProcessToken : uint64_t {};

// Unavailable, with the reason, if /dev/shm can't be written to.
absl::StatusOr<ProcessToken> MyProcess();

// Whether the process lives. True if that is unknown, as for another user's process.
bool IsAlive(ProcessToken token);

// Unlinks the files that ended processes of this user left in /dev/shm. Returns their number.
// MyProcess calls it when it makes a token, and exit() in a process that has used segments.
int UnlinkLeftBehind();

// Unlinks this process's segments in /dev/shm, as exit() does. For a process that is about to end
// without exit(). Mapped memory stays mapped, but other processes can no longer open it. The empty
// .alive file stays until the process has ended.
void UnlinkMySegments();

// ---- For segments ----

// The folder of all files.
DOVETAIL_NOT_SHARED inline constexpr char kFolder[] = "/dev/shm/";

// The path of a file. It needs no memory from the heap, so that files can be unlinked without.
class FilePath {
 public:
  FilePath(ProcessToken token, std::string_view suffix) noexcept;  // at most 16 characters

  const char* c_str() const { return text_; }

 private:
  char text_[64];
};

// A random number, never 0. Unavailable if the system has none.
absl::StatusOr<uint64_t> RandomNumber();

// Guards what this process knows of segments, and which slots it holds.
StdMutex& StateMutex();
// Held while a segment's division into slots changes. Locked before StateMutex.
StdMutex& StructureMutex();
// fork() waits for both mutexes, so that they are free in the child, and calls these with both
// held.
struct ForkHandlers {
  void (*prepare)();
  void (*in_parent)();
  void (*in_child)();
};
void SetForkHandlers(const ForkHandlers* handlers);

// A new file, open for reading and writing. Unavailable if it can't be made, and during exit(),
// which unlinks this process's files.
absl::StatusOr<int> MakeFile(const FilePath& path);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_PROCESS_TOKEN_H_
