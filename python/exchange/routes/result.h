// Returns tensors as what the caller passed: torch.Tensor for a torch.Tensor, and so on.
//
//   return MakeLike(result, argument);

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_RESULT_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_RESULT_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/managed.h"

namespace dovetail::python {

// A new object over the tensor's memory, of the class of `like` (an object, or a class itself) or
// of the known class that it inherits from. For objects of other classes and
// nullptr: a dovetail.Tensor, or a NumPy array where the package is not installed. TypeError if
// `like` is another class itself. Nothing is waited for: the work that fills the
// memory is on the current stream of that library. nullptr with an error set: ExchangeError for
// memory that the library does not take without a copy, TypeError for a dtype that it lacks. Needs
// the GIL.
PyObject* MakeLike(const Tensor& tensor, PyObject* like);

// The same for an export of ours, without another import: a fresh tensor on the CPU, for a library
// that takes such structs or for NumPy. nullptr without an error for what it does not tell, and
// `*managed` is then as it was. Needs the GIL.
PyObject* GiveLike(UniqueDLPack* managed, PyObject* like);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_RESULT_H_
