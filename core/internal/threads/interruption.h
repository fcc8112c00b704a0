// ScopedInterruption: stops long work early. The caller sets a function that says, for the current
// thread, whether to stop.
//
//   ScopedInterruption scope([](void* me) { return static_cast<Me*>(me)->IsAsked(); }, me);
//   absl::Status s = Copy(dst, src);          // Cancelled if the function said to stop
//
// Long work asks every few dozen megabytes, on the thread that started it. Each thread has scopes
// of its own.

#ifndef DOVETAIL_CORE_INTERNAL_THREADS_INTERRUPTION_H_
#define DOVETAIL_CORE_INTERNAL_THREADS_INTERRUPTION_H_

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class ScopedInterruption {
 public:
  using Ask = bool (*)(void* context);

  // `ask` must not throw. Only the innermost scope of a thread is asked.
  ScopedInterruption(Ask ask, void* context) : ask_(ask), context_(context), outer_(innermost_) {
    innermost_ = this;
  }
  ~ScopedInterruption() { innermost_ = outer_; }
  ScopedInterruption(const ScopedInterruption&) = delete;
  ScopedInterruption& operator=(const ScopedInterruption&) = delete;

  // Whether this thread has a scope, and whether its innermost scope says to stop.
  static bool IsPossible() { return innermost_ != nullptr; }
  static bool IsAsked() { return innermost_ != nullptr && innermost_->ask_(innermost_->context_); }

 private:
  static thread_local constinit ScopedInterruption* innermost_;

  Ask ask_;
  void* context_;
  ScopedInterruption* outer_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_THREADS_INTERRUPTION_H_
