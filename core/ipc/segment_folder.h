// The folder of segments' files, /dev/shm: what they are called, and who unlinks them.
//
// A file is called "dovetail.3.<process>.<number>": 3 is the version of files and their locks,
// whose other versions are left alone; then come two random numbers, the process's that made it and
// its own. The maker holds a lock on it (participants.h), which the kernel releases when the
// process ends, however it ends. (A process id would be reused, and means nothing in another
// container.) A process that ends normally unlinks its files. Those of a killed process are
// unlinked by the next process of the same user that makes one, or that ends normally after it has
// used segments.
//
// A forked child has a number of its own. Any thread.

#ifndef DOVETAIL_CORE_IPC_SEGMENT_FOLDER_H_
#define DOVETAIL_CORE_IPC_SEGMENT_FOLDER_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/std_mutex.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// A process's number in the names of its files. Never 0; random, so that none is used twice.
enum class ProcessToken : uint64_t {};

// Unavailable, with the reason, if there is none, and during exit().
absl::StatusOr<ProcessToken> MyProcess();

// Unlinks the files that ended processes of this user left in /dev/shm. Returns their number.
// MyProcess calls it when it makes a token, and exit() in a process that has used segments.
int UnlinkLeftBehind();

// Unlinks this process's segments in /dev/shm, as exit() does. For a process that is about to end
// without exit(). Mapped memory stays mapped, but other processes can no longer open it.
void UnlinkMySegments();

// ---- For segments ----

// The folder of all files.
DOVETAIL_NOT_SHARED inline constexpr char kFolder[] = "/dev/shm/";

// The path of a file. It needs no memory from the heap, so that files can be unlinked without.
class FilePath {
 public:
  FilePath(ProcessToken token, uint64_t number) noexcept;

  const char* c_str() const { return text_; }

 private:
  char text_[64];
};

// A random number, never 0. Unavailable if the system has none.
absl::StatusOr<uint64_t> RandomNumber();

// A new file, open for reading and writing, with this process's lock as its maker. Unavailable if
// it can't be made, and during exit(), which unlinks this process's files. Aborted if another
// process took it for left behind before it was locked: try another name.
absl::StatusOr<int> MakeFile(const FilePath& path);

// Opens a file for reading and writing, if it is no link; -1 and errno otherwise. Waits for
// nothing.
int OpenFile(const FilePath& path);

// Guards what this process knows of segments, and which slots it holds.
StdMutex& StateMutex();
// Held while a segment's division into slots changes. Locked before StateMutex.
StdMutex& StructureMutex();
// fork() waits for both mutexes, so that they are free in the child.
//
// What segments have to do on occasion, with both mutexes held.
struct SegmentHandlers {
  void (*before_fork)();
  void (*in_parent)();
  void (*in_child)();
  void (*before_unlink)();  // of this process's segments
};
void SetSegmentHandlers(const SegmentHandlers* handlers);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SEGMENT_FOLDER_H_
