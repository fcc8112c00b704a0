// NoCopiesScope: no tensor is copied while it lasts, or the call that would copy fails.
//
//   NoCopiesScope scope;
//   absl::StatusOr<Tensor> y = AsContiguous(x);       // FailedPrecondition unless x is contiguous
//
// Holds on the thread that made it. It refuses copies into new memory: Copied(), AsContiguous(),
// and all that is built on them, such as a change of device or an exchange that falls back to a
// copy. Writing elements into memory that the caller names (CopyInto, Fill) stays allowed, unless
// the two sides overlap, which takes a copy aside. So does new memory without a copy. Other threads
// notice nothing.

#ifndef DOVETAIL_CORE_TRACE_NO_COPIES_H_
#define DOVETAIL_CORE_TRACE_NO_COPIES_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/linkage/one_copy.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class [[nodiscard]] NoCopiesScope {
 public:
  [[gnu::always_inline]] NoCopiesScope() {
    CheckOneCopy();
    ++depth_;
  }
  ~NoCopiesScope() { --depth_; }
  NoCopiesScope(const NoCopiesScope&) = delete;
  NoCopiesScope& operator=(const NoCopiesScope&) = delete;

  // Whether this thread has a scope.
  static bool IsOn() { return depth_ != 0; }
  // The error of a copy under a scope; OK without one.
  static absl::Status Check() { return IsOn() ? Refusal() : absl::OkStatus(); }

 private:
  friend class InternalCopies;
  static absl::Status Refusal();

  static thread_local constinit int depth_;
};

// Lifts the scopes of this thread for its own lifetime: for copies inside of an operation that is
// allowed, such as the conversion of a list's numbers, which are in memory of Dovetail's own.
class [[nodiscard]] InternalCopies {
 public:
  InternalCopies() : depth_(NoCopiesScope::depth_) { NoCopiesScope::depth_ = 0; }
  ~InternalCopies() { NoCopiesScope::depth_ = depth_; }
  InternalCopies(const InternalCopies&) = delete;
  InternalCopies& operator=(const InternalCopies&) = delete;

 private:
  const int depth_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TRACE_NO_COPIES_H_
