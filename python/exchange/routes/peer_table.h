// The known classes of other libraries: how their objects are imported and how they are made.
//
//   const Peer* peer = FindPeer(type);           // nullptr: not in the table
//   if (!peer->accepts.TakesAccess(tensor.access(), device)) ...
//
// from_dlpack(), convert(), copyto(), assignment, tensor() and frombuffer() look here first, and
// then in the list of protocols (import_object.cc). A new library is a file in peers/ and its name
// in peer_table.cc: docs/adding-a-library.md.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_PEER_TABLE_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_PEER_TABLE_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"
#include "dovetail/python/exchange/protocols/buffer.h"

namespace dovetail::python {

// The row that makes objects of the class, or nullptr. Needs the GIL.
const Peer* FindPeer(PyTypeObject* type);

// The same for `type` or a class that it inherits from: torch.Tensor for torch.nn.Parameter.
const Peer* FindPeerOrBase(PyTypeObject* type);

// The names of these classes, separated by ", ".
const char* PeerNames();

// Imports an exact object of a known class; `*way` becomes the name of the way. kNotTaken for other
// objects. Needs the GIL.
ExchangeResult ImportKnown(PyObject* x, Tensor* tensor, const char** way);

// Holds the bytes of an exact object of a known class. kNotTaken for other objects. Needs the GIL.
ExchangeResult HoldKnownBytes(PyObject* x, HeldBytes* bytes);

// Borrows an exact object of a known class. kNotTaken for other objects. Needs the GIL.
ExchangeResult BorrowKnown(PyObject* x, DovetailBorrowed* borrowed);

// How an extension module's own tensor class is taken in.
struct OwnClass {
  ExchangeResult (*import)(PyObject* x, Tensor* tensor);
  ExchangeResult (*borrow)(PyObject* x, DovetailBorrowed* borrowed);
};

// An extension module with a tensor class of its own names it here, once, after the class has its
// exchange API. The library knows nothing else of that class.
void InstallOwnClass(PyTypeObject* type, const OwnClass& functions);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_PEER_TABLE_H_
