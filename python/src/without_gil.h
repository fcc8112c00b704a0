// Long work without the GIL, which it would keep from other threads; short work with it, since to
// let it go and take it again costs more than that work.
//
//   absl::StatusOr<Tensor> copy = WithoutGilIf(IsLong(source), [&] { return CopyTo(source, d); });
//
// Needs the GIL. What the work uses must not go away meanwhile: Tensors are copies of its own, not
// those inside Python objects. The work touches nothing of Python's.

#ifndef DOVETAIL_PYTHON_SRC_WITHOUT_GIL_H_
#define DOVETAIL_PYTHON_SRC_WITHOUT_GIL_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Some two microseconds of copying.
inline constexpr int64_t kLongBytes = 32 * 1024;

// Whether to copy the tensor takes long: it is large, or on a device that is waited for.
inline bool IsLong(const Tensor& tensor) {
  return tensor.nbytes() >= kLongBytes || !IsHostAccessible(tensor.device().type);
}

template <typename Work>
auto WithoutGilIf(bool is_long, Work work) {
  // Taken again in any case, after an exception too.
  struct Guard {
    PyThreadState* state;
    ~Guard() {
      if (state != nullptr) PyEval_RestoreThread(state);
    }
  } guard{is_long ? PyEval_SaveThread() : nullptr};
  return work();
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_WITHOUT_GIL_H_
