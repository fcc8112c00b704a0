// Segment: a piece of memory that several processes map, as a file in /dev/shm.
//
//   absl::StatusOr<std::shared_ptr<Segment>> made = Segment::Create(SegmentKind::kHostMemory,
//   4096); std::memcpy((*made)->data(), …);
//   // in another process
//   absl::StatusOr<std::shared_ptr<Segment>> s = Segment::Open(name, SegmentKind::kHostMemory);
//
// A file is there as long as the process that made it has the Segment; its mode is 0600, and its
// pages are reserved when it is made, so that a full /dev/shm is an error and no SIGBUS. Who has it
// open keeps the memory mapped, whatever becomes of the maker. Opening one twice, or in the process
// that made it, gives the same Segment: it is mapped once.
//
// Borrowers: a Segment that tells of memory elsewhere (on a GPU) counts in its head who uses that
// memory, by process, so that those who were killed count no more. Its maker closes it when it
// wants the memory back, and waits until nobody borrows it.
//
// Open trusts nothing that the name says: the file must be this user's own, as large as its head
// says, and its maker alive. What can't be excluded is that a process of the same user cuts the
// file short later: then a touch is SIGBUS, as for any mapped file.
//
// Any thread. A forked child has the mappings of its parent, and unlinks nothing of the parent's.

#ifndef DOVETAIL_CORE_IPC_SEGMENT_H_
#define DOVETAIL_CORE_IPC_SEGMENT_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/ipc/process_token.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

enum class SegmentKind : uint32_t {
  kHostMemory = 1,  // the memory itself
  kDeviceBlock = 2  // what a backend says of memory elsewhere
};

struct SegmentName {
  ProcessToken process;
  uint64_t number;  // 1, 2, … for each process

  // 16 bytes, and back: FailedPrecondition for any other number of bytes.
  std::string ToBytes() const;
  static absl::StatusOr<SegmentName> FromBytes(std::string_view bytes);
  friend auto operator<=>(const SegmentName&, const SegmentName&) = default;
};

class Segment {
 public:
  // How many processes can borrow one at a time.
  static constexpr int kMostBorrowers = 240;

  // New memory of `nbytes` bytes, all 0, aligned to 256. ResourceExhausted where /dev/shm has no
  // room, Unavailable where there is none.
  static absl::StatusOr<std::shared_ptr<Segment>> Create(SegmentKind kind, size_t nbytes);

  // FailedPrecondition, with what to do, for one that is gone, of another kind or another user's.
  static absl::StatusOr<std::shared_ptr<Segment>> Open(SegmentName name, SegmentKind kind);

  // That of this process in whose data `p` points, or null.
  static std::shared_ptr<Segment> FindAt(const void* p);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  void* data() const;
  size_t nbytes() const { return nbytes_; }
  SegmentName name() const { return name_; }
  // Whether this process made it.
  bool is_mine() const;
  // Whether others can still open it: its maker has not released it.
  bool can_be_opened() const;

  // Keeps it open until Keep(nullptr): for whoever knows it by its address alone.
  void Keep(std::shared_ptr<Segment> self) { kept_ = std::move(self); }

  // One more use by this process. FailedPrecondition once it was closed, or its maker has ended;
  // ResourceExhausted where too many processes have it.
  absl::Status Borrow();
  // One less. Nothing in a forked child of the process that borrowed.
  void Return() noexcept;

  // For the maker: from now on nobody may borrow it. Returns whether nobody has it borrowed.
  // `thorough`: those who have ended do not count, which takes some calls of the system for each.
  bool Close(bool thorough = true) noexcept;

 private:
  struct Head;
  struct Tables;

  Segment(SegmentName name, Head* head, size_t nbytes, bool made);
  static Tables& GetTables();
  static absl::StatusOr<std::shared_ptr<Segment>> Map(SegmentName name, SegmentKind kind, int file,
                                                      size_t nbytes, bool make);
  static std::shared_ptr<Segment> FindOpen(SegmentName name);

  const SegmentName name_;
  Head* const head_;
  const size_t nbytes_;
  const pid_t mapped_by_;
  const bool made_;
  std::shared_ptr<Segment> kept_;
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SEGMENT_H_
