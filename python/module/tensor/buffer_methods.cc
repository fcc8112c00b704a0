#include "dovetail/python/module/tensor/slots.h"

#include "absl/strings/str_cat.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/protocols/buffer_out.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

// Whether this thread makes a PickleBuffer, which shares.
thread_local constinit bool makes_pickle_buffer = false;

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  if (AsTensorObject(self)->requires_grad.load()) return RaiseRequiresGrad(), -1;
  return ExportBuffer(AsTensor(self), self, view, flags);
}

// numpy.array(t) and bytes(t), which copy, ask for what a memoryview asks for: a layout of any
// kind.
bool CheckCopiesNothing(int flags) {
  constexpr int kByMemoryView = PyBUF_INDIRECT | PyBUF_FORMAT;
  if (!NoCopiesScope::IsOn() || makes_pickle_buffer || (flags & kByMemoryView) != kByMemoryView) {
    return true;
  }
  RaiseExchange(absl::StrCat(NoCopiesScope::Check().message(),
                             " (A memoryview can't be told from numpy.array(t) and bytes(t), which "
                             "copy; t.numpy() shares.)"));
  return false;
}

// While something listens, or this or another thread is in no_copies().
[[gnu::noinline, gnu::cold]] int GetCheckedBuffer(PyObject* self, Py_buffer* view, int flags) {
  const TracedExport traced("buffer", self, AsTensor(self));
  return CheckCopiesNothing(flags) ? GetBuffer(self, view, flags) : -1;
}

}  // namespace

PyObject* NewPickleBuffer(PyObject*, PyObject* self) {
  if (!CheckIsTensor(self)) return nullptr;
  makes_pickle_buffer = true;
  PyObject* const buffer = PyPickleBuffer_FromObject(self);
  makes_pickle_buffer = false;
  return buffer;
}

int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags) {
  if (view == nullptr) {
    RaiseExchange("A buffer can't be asked for without a view to fill.");
    return -1;
  }
  view->obj = nullptr;
  if (IsObserved()) [[unlikely]]
    return GetCheckedBuffer(self, view, flags);
  return GetBuffer(self, view, flags);
}

void ReleaseTensorBuffer(PyObject*, Py_buffer* view) { ReleaseExportedBuffer(view); }

}  // namespace dovetail::python
