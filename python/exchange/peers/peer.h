// Peer: what the doors know of one class of another library. A library's file in this folder has
// one for each of its classes, and routes/peer_table.cc lists them. docs/adding-a-library.md is the
// way.
//
//   DOVETAIL_NOT_SHARED inline constexpr Peer kCupyPeer = {
//       .type = cupy_ndarray, .way_out = WayOut::kFunction, .accepts = {…}, …};

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_PEER_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_PEER_H_

#include <Python.h>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/accepted_memory.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/protocols/buffer.h"

namespace dovetail::python {

// How an object of the class is made from a tensor.
enum class WayOut {
  kNone,         // convert() does not make objects of the class
  kOwn,          // the tensor is wrapped by the extension module
  kNumPy,        // by NumPy's C interface
  kExchangeApi,  // by the class's DLPack exchange API, or else by its function
  kFunction,     // by a call of the function below with the tensor
};

// A function of a Python module.
struct PythonFunction {
  const char* module = nullptr;
  const char* name = nullptr;
};

struct Peer {
  PeerType& type;

  // How an exact object of the class comes in without a call of a Python method. nullptr: by the
  // object's protocols.
  const char* way_in = nullptr;  // the name in ImportTrace
  ExchangeResult (*import)(PyObject* x, Tensor* tensor) = nullptr;
  bool (*hold_bytes)(PyObject* x, HeldBytes* bytes) = nullptr;  // for frombuffer()
  // How it is borrowed for a call of an extension's function. nullptr: it is imported and held.
  ExchangeResult (*borrow)(PyObject* x, DovetailBorrowed* borrowed) = nullptr;

  // How an object of the class is made. Memory that the library does not accept is copied, unless
  // copy=False.
  WayOut way_out = WayOut::kNone;
  AcceptedMemory accepts = {};
  PeerType* direct_from = nullptr;  // objects of this class are converted in one step
  PythonFunction function = {};     // for kFunction, and without an exchange API
  PeerType* objects = nullptr;      // the class of the objects, where `type` is a base of it
  // For results of extensions' functions: a function of the library itself, in the place of
  // `function` where that is of a package that is not installed; and whether it refuses or copies
  // what it does not accept.
  PythonFunction own_function = {};
  bool checks_by_itself = false;

  bool is_immutable = false;  // no code writes to an array of the library

  // Whether the library has a type, where it does not have all: 1 or 0, -1 with an error set.
  int (*can_hold)(DType dtype) = nullptr;

  // The library's current stream, where the exchange API does not tell it. False with an error set.
  bool (*current_stream)(void** stream) = nullptr;

  // The maker of the class, where convert() uses it; or nullptr.
  DLPackManagedTensorToPyObjectNoSync exchange_function() const {
    return way_out == WayOut::kExchangeApi ? type.maker() : nullptr;
  }
};

// The name in ImportTrace of imports by DLPack's C exchange API.
inline constexpr char kByExchangeApi[] = "DLPack C exchange API";

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_PEER_H_
