// Tensors out, over DLPack.
//
//   absl::StatusOr<UniqueDLPack> out = ToDLPack(tensor);
//   absl::StatusOr<UniqueDLPack> gpu = ToDLPack(tensor, {.stream = consumer});
//
// No copy: the managed tensor holds a reference to the tensor's Storage until its deleter runs,
// which may be on any thread. What is written follows dlpack.h 1.3: data is element 0 with
// byte_offset 0 (an opaque handle keeps its offset), NULL where there are no elements; strides are
// never NULL but for rank 0; the flags say what is read-only, copied or padded.

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
  // The consumer's stream on the tensor's device: the work on the tensor so far is ordered before
  // what the consumer gives that stream later, and the memory is not reused before the consumer's
  // work is done. None: no ordering is made. Not used after the call.
  std::optional<Stream> stream;
  // The tensor was copied for this consumer, who may write to it as its only owner (IS_COPIED).
  bool is_copied = false;
};

// The same for a caller who knows that there is a tensor and that no stream is to be ordered, as on
// the CPU: it can't fail (but for std::bad_alloc).
UniqueDLPack ToDLPackUnordered(const Tensor& tensor, bool is_copied = false);

// The same, with a reference to the tensor's Storage that the caller has made for it.
UniqueDLPack ToDLPackUnordered(const Tensor& tensor, StorageRef storage, bool is_copied = false);

// FailedPrecondition for a null tensor; what the backend says when the streams can't be ordered.
absl::StatusOr<UniqueDLPack> ToDLPack(const Tensor& tensor, const ExportOptions& options = {});

// The struct of DLPack before 1.0, which has no flags: FailedPrecondition, too, for what it can't
// say (a read-only tensor, padded sub-byte elements).
absl::StatusOr<UniqueDLPackLegacy> ToDLPackLegacy(const Tensor& tensor,
                                                  const ExportOptions& options = {});

// Tells whether a consumer has deleted what it was given, in failure too, where dlpack.h does not
// say who owns the struct.
//
//   DeletionMark mark(managed.get());         // of ToDLPackUnordered
//   const int failed = make(managed.get(), &made);
//   if (failed == 0 || mark.deleted()) (void)managed.release();
//
// Lives as long as `managed` is with the consumer's function, on its thread.
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
