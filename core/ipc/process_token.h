// ProcessToken: a number by which the processes of a machine know each other, and tell whether one
// still lives, however it ended.
//
//   absl::StatusOr<ProcessToken> mine = MyProcess();
//   if (!IsAlive(other)) ...                          // ended, or killed
//
// Behind each token stands an empty file in /dev/shm, "dovetail.<token>.alive", on which the
// process holds a lock that the kernel lets go when the process ends. (A process's id would be
// given to others again, and means nothing in another container.) Files of segments carry their
// maker's token in their names (segment.h). What a process left behind by being killed is unlinked
// by the next one of the same user that makes a token; what ends normally unlinks its files itself.
//
// One token and one file descriptor for each process, made by the first call of MyProcess; a forked
// child makes its own. Any thread.

#ifndef DOVETAIL_CORE_IPC_PROCESS_TOKEN_H_
#define DOVETAIL_CORE_IPC_PROCESS_TOKEN_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// Never 0 for a process; random, so that none comes twice.
enum class ProcessToken : uint64_t {};

// Unavailable, with the reason, where /dev/shm can't be written to.
absl::StatusOr<ProcessToken> MyProcess();

// Whether the process lives. True where it can't be found out, as of another user's process.
bool IsAlive(ProcessToken token);

// Unlinks what ended processes of this user left in /dev/shm. Returns how many files; MyProcess
// calls it when it makes a token.
int UnlinkLeftBehind();

// Unlinks the segments that this process has in /dev/shm: for one that is about to end without what
// exit() runs, which does it too. Memory that is mapped stays so; others can open it no more. What
// is left, a file of no bytes, tells that the process lives, until it has ended.
void UnlinkMySegments();

// ---- For segments ----

// The folder of all files, and the name of one of `token`'s there.
DOVETAIL_NOT_SHARED inline constexpr char kFolder[] = "/dev/shm/";
std::string FileName(ProcessToken token, std::string_view suffix);

// Locked by whoever reads or writes what is known of segments in this process; a fork waits for it,
// so that the child finds it free.
std::mutex& StateMutex();

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_PROCESS_TOKEN_H_
