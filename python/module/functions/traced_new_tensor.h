// What the functions that make a tensor of an object tell a trace.
//
//   return TracedNewTensor("Arrow", x, [=] { return Make(x); });

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_TRACED_NEW_TENSOR_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_TRACED_NEW_TENSOR_H_

#include <Python.h>

#include <utility>

#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {

template <typename Make>
[[gnu::noinline, gnu::cold]] PyObject* TellOfNewTensor(const char* way, PyObject* x, Make make) {
  TracedExchange traced(TraceKind::kImport, x);
  traced.set_way(way);
  traced.set_target("dovetail.Tensor");
  PyObject* const made = make();
  if (made == nullptr) {
    traced.Failed();
  } else {
    traced.Done(AsTensor(made), false);
  }
  return made;
}

// Calls `make`, which returns a new dovetail.Tensor over the memory of `x`, or nullptr with an
// error set. `x` may be nullptr. Needs the GIL.
template <typename Make>
[[gnu::always_inline]] inline PyObject* TracedNewTensor(const char* way, PyObject* x, Make make) {
  if (IsObserved()) [[unlikely]]
    return TellOfNewTensor(way, x, std::move(make));
  return make();
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_TRACED_NEW_TENSOR_H_
