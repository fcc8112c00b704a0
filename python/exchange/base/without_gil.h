// Runs long work without the GIL, so that other threads go on and Ctrl-C can stop the work. Short
// work keeps the GIL, because releasing and taking it costs more than the work.
//
//   absl::StatusOr<Tensor> copy = WithoutGilIf(IsLong(source), [&] { return Copied(source, {.device
//   = d}); }); if (!copy.ok()) return RaiseStatus(copy.status());   // a signal handler's
//   exception, if any
//
// Needs the GIL. The work must own what it uses: copies of Tensors, not those inside Python
// objects. The work touches no Python object. Signal handlers run on the main thread alone, as
// everywhere in Python. Work that a handler stopped returns Cancelled.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_WITHOUT_GIL_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_WITHOUT_GIL_H_

#include <Python.h>

#include <optional>

#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/trace/observed.h"
#include "dovetail/python/exchange/base/call_site.h"
#include "dovetail/python/exchange/base/thread_end.h"

namespace dovetail::python {

// About two microseconds of copying.
inline constexpr int64_t kLongBytes = 32 * 1024;

// Whether a copy of the tensor takes long: it is large, or on a device that has to be waited for.
inline bool IsLong(const Tensor& tensor) {
  return tensor.nbytes() >= kLongBytes || !IsHostAccessible(tensor.device().type);
}
// The same of a copy to a device. (The work waited for may itself need the GIL: dpctl's does.)
inline bool IsLong(const Tensor& tensor, Device to) {
  return IsLong(tensor) || !IsHostAccessible(to.type);
}

class WithoutGil {
 public:
  WithoutGil() : scope_(&WithoutGil::CheckSignals, this) {
    if (internal_trace::IsObserved()) [[unlikely]]
      site_.emplace();
    thread_ = PyEval_SaveThread();
  }
  ~WithoutGil() { TakeGil(thread_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  // An exception that a handler raises stays set when the GIL is taken again.
  static bool CheckSignals(void* self) {
    auto* released = static_cast<WithoutGil*>(self);
    TakeGil(released->thread_);
    const bool raised = PyErr_CheckSignals() != 0;
    released->thread_ = PyEval_SaveThread();
    return raised;
  }

  std::optional<NotedCallSite> site_;
  PyThreadState* thread_;
  ScopedInterruption scope_;
};

template <typename Work>
auto WithoutGilIf(bool is_long, const Work& work) {
  std::optional<WithoutGil> released;  // takes the GIL again in any case, after exceptions too
  if (is_long) released.emplace();
  return work();
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_WITHOUT_GIL_H_
