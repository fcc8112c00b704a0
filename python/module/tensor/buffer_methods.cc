#include "dovetail/python/module/tensor/buffer_methods.h"

#include "dovetail/python/exchange/buffer/buffer_out.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/trace/exchange_told.h"
#include "dovetail/python/module/tensor/tensor_object.h"

namespace dovetail::python {

int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags) {
  if (view == nullptr) {
    RaiseExchange("A buffer can't be asked for without a view to fill.");
    return -1;
  }
  view->obj = nullptr;
  const ExportTold told("buffer", self, AsTensor(self));
  if (AsTensorObject(self)->requires_grad.load()) return RaiseRequiresGrad(), -1;
  return ExportBuffer(AsTensor(self), self, view, flags);
}

void ReleaseTensorBuffer(PyObject*, Py_buffer* view) { ReleaseExportedBuffer(view); }

}  // namespace dovetail::python
