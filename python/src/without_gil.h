// Long work with the GIL released, which Ctrl-C stops.
//
//   {
//     WithoutGil released;
//     status = Copy(dst, src);            // Cancelled when a signal's handler raised
//   }
//   if (!status.ok()) return RaiseStatus(status);    // the handler's exception, if there is one
//
// Handlers run on the main thread alone, as everywhere in Python. Nothing between may touch Python.

#ifndef DOVETAIL_PYTHON_SRC_WITHOUT_GIL_H_
#define DOVETAIL_PYTHON_SRC_WITHOUT_GIL_H_

#include <Python.h>

#include "dovetail/core/interruption.h"

namespace dovetail::python {

class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()), scope_(&WithoutGil::CheckSignals, this) {}
  ~WithoutGil() { PyEval_RestoreThread(thread_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  // What a handler raises stays set for whoever takes the GIL back.
  static bool CheckSignals(void* self) {
    auto* released = static_cast<WithoutGil*>(self);
    PyEval_RestoreThread(released->thread_);
    const bool raised = PyErr_CheckSignals() != 0;
    released->thread_ = PyEval_SaveThread();
    return raised;
  }

  PyThreadState* thread_;
  ScopedInterruption scope_;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_WITHOUT_GIL_H_
