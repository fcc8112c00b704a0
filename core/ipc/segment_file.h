// The files of segments (segment.h): how they are named, made, opened and checked.

#ifndef DOVETAIL_CORE_IPC_SEGMENT_FILE_H_
#define DOVETAIL_CORE_IPC_SEGMENT_FILE_H_

#include <sys/types.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/ipc/segment_folder.h"
#include "dovetail/core/ipc/slot_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

enum class SegmentKind : uint32_t {
  kHostMemory = 1,   // the memory itself
  kDeviceBlocks = 2  // a backend's descriptions of memory elsewhere; forked children hold none
};

// The maker's token and a random number.
struct SegmentName {
  ProcessToken process;
  uint64_t number;

  friend auto operator<=>(const SegmentName&, const SegmentName&) = default;
};

FilePath PathOf(SegmentName name) noexcept;

// The first bytes of the file. Other processes of this user may write to it, so that it is read
// once, and checked.
struct SegmentFacts {
  uint64_t magic;
  SegmentKind kind;
  uint32_t unused;
  uint64_t granules;
  SegmentName name;
};

// The head of the file. The table of slots follows it, and then the memory.
struct SegmentHead {
  static constexpr int kMostFollowers = 240;

  SegmentFacts facts;
  std::atomic<uint32_t> closed;   // whether its maker has released it
  std::atomic<uint32_t> freed;    // grows with each slot that is freed; a futex
  std::atomic<uint32_t> waiting;  // whether somebody may wait for `freed`
  std::atomic<uint32_t> follower_count;
  std::atomic<uint32_t> turns;       // how often the structure lock was given back; a futex
  std::atomic<uint32_t> is_awaited;  // whether somebody may wait for `turns`
  std::atomic<uint64_t> reserved;    // granules from the first on that have pages
  std::atomic<uint64_t> numbers[kMostParticipants / 64];  // the participants' numbers in use
  std::atomic<uint32_t> process_ids[kMostParticipants];   // for messages only
  SegmentName followers[kMostFollowers];                  // the further segments of a pool
};

// Where the parts of a segment of so many granules lie in its file, in bytes.
struct SegmentParts {
  explicit SegmentParts(uint64_t granules);

  size_t table;    // the table of slots
  size_t headers;  // of the slots, within the table
  size_t data;
  size_t nbytes;  // of the whole file
};

enum class SegmentBacking : uint8_t {
  kNamed,     // a file in /dev/shm, which other processes open by its name
  kAnonymous  // a memfd, whose descriptor they receive
};

struct SegmentFile {
  int descriptor;
  SegmentName name;
  SegmentKind kind;
  SegmentBacking backing;
  uint64_t granules;
};

// A new file, whose pages are still to be reserved, but for the head's. The caller closes it, and
// unlinks what is in the folder. ResourceExhausted if /dev/shm is full or a limit of the process is
// reached; Unavailable if no file can be made.
absl::StatusOr<SegmentFile> MakeSegmentFile(uint64_t granules, SegmentKind kind,
                                            SegmentBacking backing);

// Opens a file by its name, or checks one whose descriptor was received: it must be a regular file
// of this user, have the size that its head says, and a maker that lives. FailedPrecondition, with
// the reason, otherwise. The result has a descriptor of its own.
absl::StatusOr<SegmentFile> OpenSegmentFile(SegmentName name);
// Another descriptor of a file that was checked before, with locks of its own; -1 if there is none.
// Allocates nothing.
int OpenOnceMore(SegmentName name, SegmentBacking backing, int open_file);
absl::StatusOr<SegmentFile> CheckSegmentFile(int received);

// Whether a write may reach so far into a file: beyond the process's limit, it is a SIGXFSZ.
bool MayWriteTo(size_t end);

// Gives bytes of the file their pages, so that a full /dev/shm is an error and not a SIGBUS.
absl::Status ReservePages(int file, size_t offset, size_t nbytes);

// The errors for a file that is not there or has no maker, for memory in it that was released, and
// for a name of the other kind.
absl::Status SegmentGoneError();
absl::Status ReleasedError();
absl::Status OtherKindError();

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SEGMENT_FILE_H_
