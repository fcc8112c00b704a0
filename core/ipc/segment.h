// Segment: a piece of memory that several processes map, as a file in /dev/shm.
//
//   absl::StatusOr<std::shared_ptr<Segment>> made =
//       Segment::Create(SegmentKind::kHostMemory, 4096);
//   std::memcpy((*made)->data(), …);
//   // in another process
//   absl::StatusOr<std::shared_ptr<Segment>> s = Segment::Open(name, SegmentKind::kHostMemory);
//
// The file exists as long as its maker holds the Segment. Its mode is 0600. Its pages are reserved
// when it is made, so that a full /dev/shm is an error and not a SIGBUS. A process that has it open
// keeps the memory mapped, whatever happens to the maker. A process maps each segment once: opening
// it again, or in the process that made it, gives the same Segment.
//
// Borrowers: a Segment can describe memory elsewhere (on a GPU). Its head then counts the uses of
// that memory by process, so that killed processes no longer count. The maker closes the segment
// when it wants the memory back, and waits until nobody borrows it.
//
// Open does not trust the name: the file must belong to this user and have the size that its head
// says, and its maker must be alive. A process of the same user can still truncate the file later;
// an access is then a SIGBUS, as for any mapped file.
//
// Any thread. A forked child keeps its parent's mappings and unlinks none of its files.

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
  kDeviceBlock = 2  // a backend's description of memory elsewhere
};

struct SegmentName {
  ProcessToken process;
  uint64_t number;  // random

  // To 16 bytes and back. FailedPrecondition for any other number of bytes.
  std::string ToBytes() const;
  static absl::StatusOr<SegmentName> FromBytes(std::string_view bytes);
  friend auto operator<=>(const SegmentName&, const SegmentName&) = default;
};

class Segment {
 public:
  // How many processes can borrow a segment at a time.
  static constexpr int kMostBorrowers = 240;

  // New memory of `nbytes` zero bytes, aligned to 256. ResourceExhausted if /dev/shm is full or a
  // limit of the process is reached; Unavailable if no file can be made in /dev/shm.
  static absl::StatusOr<std::shared_ptr<Segment>> Create(SegmentKind kind, size_t nbytes);

  // FailedPrecondition, with a remedy, if the segment is gone, of another kind, or another user's.
  static absl::StatusOr<std::shared_ptr<Segment>> Open(SegmentName name, SegmentKind kind);

  // This process's segment whose data contain `p`, or nullptr.
  static std::shared_ptr<Segment> FindAt(const void* p);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  void* data() const;
  size_t nbytes() const { return nbytes_; }
  SegmentName name() const { return name_; }
  // Whether this process made it.
  bool is_mine() const;
  // Whether other processes can still open it: its maker has not released it.
  bool can_be_opened() const;

  // Keeps the segment alive until Keep(nullptr), for owners that know only its address.
  void Keep(std::shared_ptr<Segment> self) { kept_ = std::move(self); }

  // Adds a use by this process. FailedPrecondition if the segment was closed or its maker has
  // ended; ResourceExhausted if kMostBorrowers processes have it.
  absl::Status Borrow();
  // Removes a use. Does nothing in a forked child of the borrower.
  void Return() noexcept;

  // For the maker: nobody may borrow the segment from now on. Returns whether nobody borrows it.
  // `thorough`: ignores borrowers that have ended, at the cost of some system calls per borrower.
  bool Close(bool thorough = true) noexcept;

 private:
  struct Head;
  struct Tables;

  Segment(SegmentName name, SegmentKind kind, Head* head, size_t nbytes, bool made);
  static Tables& GetTables();
  static absl::StatusOr<std::shared_ptr<Segment>> Map(SegmentName name, SegmentKind kind, int file,
                                                      size_t nbytes, bool make);
  static std::shared_ptr<Segment> FindOpen(SegmentName name);

  const SegmentName name_;
  const SegmentKind kind_;
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
