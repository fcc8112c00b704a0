// The fast door between: an exact NumPy array to a class that takes DLPack structs by its exchange
// API (torch.Tensor, paddle.Tensor), with no tensor of ours in the middle.
//
//   PyObject* made = LendNumPyArray(*peer, x);    // nullptr and no error: take the usual way

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_NUMPY_LEND_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_NUMPY_LEND_H_

#include <Python.h>

#include "dovetail/python/exchange/routes/peer_table.h"

namespace dovetail::python {

// A new object over the memory of `x`, which it keeps alive. nullptr without an error for what the
// class does not take as it is, or what only __dlpack__ answers for. Needs the GIL.
PyObject* LendNumPyArray(const PeerClass& peer, PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_NUMPY_LEND_H_
