// Long work without the GIL, which it would keep from other threads, and which Ctrl-C stops; short
// work with it, since to let it go and take it again costs more than that work.
//
//   absl::StatusOr<Tensor> copy = WithoutGilIf(IsLong(source), [&] { return CopyTo(source, d); });
//   if (!copy.ok()) return RaiseStatus(copy.status());   // a signal handler's exception, if any
//
// Needs the GIL. What the work uses must not go away meanwhile: Tensors are copies of its own, not
// those inside Python objects. The work touches nothing of Python's. Handlers run on the main
// thread alone, as everywhere in Python; work that one stopped is Cancelled.

#ifndef DOVETAIL_PYTHON_EXCHANGE_LIFETIME_WITHOUT_GIL_H_
#define DOVETAIL_PYTHON_EXCHANGE_LIFETIME_WITHOUT_GIL_H_

#include <Python.h>

#include <optional>

#include "dovetail/core/internal/interruption.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/lifetime/thread_end.h"

namespace dovetail::python {

// Some two microseconds of copying.
inline constexpr int64_t kLongBytes = 32 * 1024;

// Whether to copy the tensor takes long: it is large, or on a device that is waited for.
inline bool IsLong(const Tensor& tensor) {
  return tensor.nbytes() >= kLongBytes || !IsHostAccessible(tensor.device().type);
}

class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()), scope_(&WithoutGil::CheckSignals, this) {}
  ~WithoutGil() { TakeGil(thread_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  // What a handler raises stays set for whoever takes the GIL back.
  static bool CheckSignals(void* self) {
    auto* released = static_cast<WithoutGil*>(self);
    TakeGil(released->thread_);
    const bool raised = PyErr_CheckSignals() != 0;
    released->thread_ = PyEval_SaveThread();
    return raised;
  }

  PyThreadState* thread_;
  ScopedInterruption scope_;
};

template <typename Work>
auto WithoutGilIf(bool is_long, Work work) {
  std::optional<WithoutGil> released;  // the GIL is taken again in any case, after exceptions too
  if (is_long) released.emplace();
  return work();
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_LIFETIME_WITHOUT_GIL_H_
