// Converts an exact NumPy array to a class with a DLPack exchange API (torch.Tensor, paddle.Tensor)
// in one step, without a Tensor in between.
//
//   PyObject* made = LendNumPyArray(*peer, x);    // nullptr and no error: import and export

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_NUMPY_LEND_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_NUMPY_LEND_H_

#include <Python.h>

#include "dovetail/python/exchange/routes/peer_table.h"

namespace dovetail::python {

// A new object over the memory of `x`, which it keeps alive. nullptr without an error if the class
// does not take the memory without a copy, or the array has to go through __dlpack__. Needs the
// GIL.
PyObject* LendNumPyArray(const Peer& peer, PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_NUMPY_LEND_H_
