// The known classes of other libraries: how their objects are imported and how they are made.
//
//   const PeerClass* peer = FindPeer(type);           // nullptr: not in the table
//   if (!peer->accepts.TakesAccess(tensor.access(), device)) ...
//
// from_dlpack(), convert(), copyto(), assignment, tensor() and frombuffer() look here first, and
// then in the list of protocols (import_object.cc). A new library is one row of peer_table.cc.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_PEER_TABLE_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_PEER_TABLE_H_

#include <Python.h>

#include "dlpack/dlpack.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/protocols/bytes_in.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/accepted_memory.h"
#include "dovetail/python/exchange/base/exchange_result.h"

namespace dovetail::python {

// How an object of the class is made from a tensor.
enum class WayOut {
  kNone,         // convert() does not make objects of the class
  kOwn,          // the tensor is wrapped by the extension module
  kNumPy,        // by NumPy's C interface
  kExchangeApi,  // by the class's DLPack exchange API, or else by its function
  kFunction,     // by a call of the function below with the tensor
};

struct PeerClass {
  PeerType& type;

  // How an exact object of the class is imported without a call of a Python method. `import` and
  // `hold_bytes` may be nullptr: the object's protocols are used.
  const char* way_in;  // the name in ImportTrace
  ExchangeResult (*import)(PyObject* x, Tensor* tensor);
  bool (*hold_bytes)(PyObject* x, HeldBytes* bytes);
  // How it is borrowed for a call of an extension's function. nullptr: it is imported and held.
  ExchangeResult (*borrow)(PyObject* x, DovetailBorrowed* borrowed);

  // How an object of the class is made. Memory that the library does not accept is copied, unless
  // copy=False.
  WayOut way_out = WayOut::kNone;
  AcceptedMemory accepts = {};
  PeerType* direct_from = nullptr;        // objects of this class are converted in one step
  const char* function_module = nullptr;  // for kFunction, and without an exchange API
  const char* function = nullptr;
  PeerType* objects = nullptr;  // the class of the objects, where `type` is a base of it

  // The maker of the class, where convert() uses it; or nullptr.
  DLPackManagedTensorToPyObjectNoSync exchange_function() const {
    return way_out == WayOut::kExchangeApi ? type.maker() : nullptr;
  }
};

// The row that makes objects of the class, or nullptr. Needs the GIL.
const PeerClass* FindPeer(PyTypeObject* type);

// The same for `type` or a class that it inherits from: torch.Tensor for torch.nn.Parameter.
const PeerClass* FindPeerOrBase(PyTypeObject* type);

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
