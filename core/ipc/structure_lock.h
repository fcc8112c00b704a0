// StructureLock: whoever changes how a segment is divided holds it.
//
//   const StructureLock lock(file, head);
//   if (!lock.status().ok()) return lock.status();
//
// It excludes the other processes by a lock on a byte of the file, which the kernel releases when a
// process ends, and the other threads by StructureMutex. It waits without that mutex, so that a
// process that keeps the lock holds up this segment's callers and nobody else. Whoever waits sleeps
// until the lock is given back; the error comes if nobody gave it back for five seconds.

#ifndef DOVETAIL_CORE_IPC_STRUCTURE_LOCK_H_
#define DOVETAIL_CORE_IPC_STRUCTURE_LOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/ipc/segment_file.h"
#include "dovetail/core/ipc/segment_folder.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

class ABSL_SCOPED_LOCKABLE StructureLock {
 public:
  StructureLock(int file, SegmentHead& head) ABSL_EXCLUSIVE_LOCK_FUNCTION(StructureMutex());
  ~StructureLock() ABSL_UNLOCK_FUNCTION();
  StructureLock(const StructureLock&) = delete;
  StructureLock& operator=(const StructureLock&) = delete;

  // Unavailable if another process keeps the lock (it is stopped, say), or there is no descriptor.
  // The mutex is held all the same.
  const absl::Status& status() const { return status_; }

  // For who has taken it by TryLockStructure.
  static void GiveBack(int file, SegmentHead& head);

 private:
  const int file_;
  SegmentHead& head_;
  absl::Status status_;
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_STRUCTURE_LOCK_H_
