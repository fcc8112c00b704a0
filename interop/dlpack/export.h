// Exports tensors through DLPack.
//
//   absl::StatusOr<UniqueDLPack> out = ToDLPack(tensor);
//   absl::StatusOr<UniqueDLPack> gpu = ToDLPack(tensor, {.stream = consumer});
//
// No copy: the managed tensor holds a reference to the tensor's Storage until its deleter runs, on
// any thread. The struct follows dlpack.h 1.3. `data` is element 0 and byte_offset is 0; an opaque
// handle keeps its offset; `data` is NULL if there are no elements. Strides are NULL only for rank
// 0. The flags say whether the tensor is read-only, copied or padded.

#ifndef DOVETAIL_INTEROP_DLPACK_EXPORT_H_
#define DOVETAIL_INTEROP_DLPACK_EXPORT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/managed.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct ExportOptions {
  // The consumer's stream on the tensor's device. Pending work on the tensor is ordered before the
  // consumer's later work on that stream, and the memory is not reused before that work is done.
  // nullopt: no ordering. Not used after the call.
  std::optional<Stream> stream = {};
  // The consumer may read on the host, or on a stream that is unknown (StreamRequest::host_waits):
  // the call returns after the pending work.
  bool host_waits = false;
  // The tensor is a copy made for this consumer, which becomes its only owner (IS_COPIED).
  bool is_copied = false;
};

// ToDLPack for a tensor that is not null and needs no stream ordering, as on the CPU. Fails only
// with std::bad_alloc.
UniqueDLPack ToDLPackUnordered(const Tensor& tensor, bool is_copied = false);

// The same; takes over `storage`, the caller's reference to the tensor's Storage.
UniqueDLPack ToDLPackUnordered(const Tensor& tensor, StorageRef storage, bool is_copied = false);

// FailedPrecondition for a null tensor. A backend that can't order the streams reports its own
// error.
absl::StatusOr<UniqueDLPack> ToDLPack(const Tensor& tensor, const ExportOptions& options = {});

// Exports the struct of DLPack before 1.0, which has no flags. FailedPrecondition also for tensors
// that need a flag (read-only, padded sub-byte elements).
absl::StatusOr<UniqueDLPackLegacy> ToDLPackLegacy(const Tensor& tensor,
                                                  const ExportOptions& options = {});

// Whether the struct is one that these functions made, so that it describes a valid tensor.
bool IsExport(const DLManagedTensorVersioned* managed);

// Tells whether a consumer's function called the deleter. If the function fails, dlpack.h does not
// say who owns the struct; the mark finds out.
//
//   DeletionMark mark(managed.get());         // of ToDLPackUnordered
//   const int failed = make(managed.get(), &made);
//   if (failed == 0 || mark.deleted()) (void)managed.release();
//
// Must live until the consumer's function returns, on the same thread.
class DeletionMark {
 public:
  explicit DeletionMark(DLManagedTensorVersioned* managed);
  ~DeletionMark();
  DeletionMark(const DeletionMark&) = delete;
  DeletionMark& operator=(const DeletionMark&) = delete;

  bool deleted() const { return deleted_; }

 private:
  DLManagedTensorVersioned* managed_;
  bool deleted_ = false;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_EXPORT_H_
