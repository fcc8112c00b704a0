// Returns tensors as what the caller passed: torch.Tensor for a torch.Tensor, and so on.
//
//   return MakeLike(result, argument);

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_RESULT_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_RESULT_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// A new object over the tensor's memory, of the class of `like` (an object, or a class itself) or
// of the known class that it inherits from. For objects of other classes and
// nullptr: a dovetail.Tensor, or a NumPy array where the package is not installed. TypeError if
// `like` is another class itself. Nothing is waited for: the work that fills the
// memory is on the current stream of that library. nullptr with an error set: ExchangeError for
// memory that the library does not take without a copy, TypeError for a dtype that it lacks. Needs
// the GIL.
PyObject* MakeLike(const Tensor& tensor, PyObject* like);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_RESULT_H_
