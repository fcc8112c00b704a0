// Makes objects of the known classes.
//
//   if (WhyRefused(peer->accepts, tensor) == nullptr && HasExchangeApi(*peer, tensor)) {
//     return ExportByExchangeApi(*peer, tensor, /*copied=*/false);
//   }
//   PyObject* made = LendNumPyArray(*peer, x);    // nullptr and no error: import and export

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_EXPORT_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_EXPORT_OBJECT_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace dovetail::python {

// Whether ExportByExchangeApi() can make the object: the class has an exchange API, and the tensor
// is on the CPU, or on a device that a backend serves and whose streams the API names.
bool HasExchangeApi(const Peer& peer, const Tensor& tensor);

// The function of the table, whose module is imported if need be. nullptr with an error set. Needs
// the GIL.
PyObject* NewFunction(const PythonFunction& function);

// A new object of a class with an exchange API over the tensor's memory, on any device, without
// ordering. nullptr with the library's error set, or ours if it sets none. Needs the GIL.
PyObject* ExportToClass(const PeerType& type, const Tensor& tensor, bool copied = false);

// The same for an export of ours.
PyObject* GiveToClass(const PeerType& type, UniqueDLPack managed);

// The same for a row of the table; the library's current stream waits for the pending work.
// `copied` sets DLPack's flag for a copy. nullptr with the library's error set. Needs the GIL.
PyObject* ExportByExchangeApi(const Peer& peer, const Tensor& tensor, bool copied);

// A new object over the memory of `x`, an exact NumPy array, which it keeps alive: a torch.Tensor
// or paddle.Tensor in one step, without a Tensor in between. nullptr without an error if the class
// does not take the memory without a copy, or the array has to go through __dlpack__. Needs the
// GIL.
PyObject* LendNumPyArray(const Peer& peer, PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_EXPORT_OBJECT_H_
