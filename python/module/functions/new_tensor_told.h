// What the functions that make a tensor of an object tell a trace.
//
//   if (IsObserved()) [[unlikely]] return TellOfNewTensor("Arrow", x, [&] { return Make(x); });

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_NEW_TENSOR_TOLD_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_NEW_TENSOR_TOLD_H_

#include <Python.h>

#include "dovetail/python/exchange/base/exchange_told.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {

// Calls `make`, which returns a new dovetail.Tensor over the memory of `x`, or nullptr with an
// error set. `x` may be nullptr. Needs the GIL. Not inlined: in the caller it would cost the
// untraced call registers.
template <typename Make>
[[gnu::noinline, gnu::cold]] PyObject* TellOfNewTensor(const char* way, PyObject* x, Make make) {
  ExchangeTold told(TraceKind::kImport, x);
  told.set_way(way);
  told.set_target("dovetail.Tensor");
  PyObject* const made = make();
  if (made == nullptr) {
    told.Failed();
  } else {
    told.Done(AsTensor(made), false);
  }
  return made;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_NEW_TENSOR_TOLD_H_
