// Imports any object: decides which way is taken, and takes it.
//
//   Tensor tensor;
//   if (!ImportAny(x, {}, &tensor)) return nullptr;     // an object with __dlpack__, a buffer, …
//
// A known class (peer_table.h) comes first, then the list of protocols (import_object.cc). Source:
// the array API standard's from_dlpack and DLPack's Python specification. All functions need the
// GIL and return false (kError) with an error set.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_IMPORT_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_IMPORT_OBJECT_H_

#include <Python.h>

#include <optional>

#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/buffer.h"
#include "dovetail/python/exchange/protocols/dlpack_call.h"

namespace dovetail::python {

// Who imports. Each protocol names those that may use it; the values are bits.
enum ImportUser : unsigned {
  kFromDLPack = 1,  // from_dlpack(): what DLPack's specification allows
  kTensorData = 2,  // tensor(), convert(), copyto(), assignment: objects that exchange tensors
  kMemoryData = 4,  // the same: objects that only show their memory
  kFromBuffer = 8,  // frombuffer(): bytes without a type
  kAnyData = kTensorData | kMemoryData,
};

// Imports `x` by the ways that `users` may use. kNotTaken for an object that has none of them.
// The request's device and copy=True are for kFromDLPack only.
ExchangeResult TryImport(PyObject* x, unsigned users, const ImportRequest& request, Tensor* tensor);

// The same with kFromDLPack and nothing requested, or with `request`. AttributeError for an object
// without __dlpack__.
bool ImportTensor(PyObject* x, Tensor* tensor);
bool ImportTensor(PyObject* x, const ImportRequest& request, Tensor* tensor);

// The same with kAnyData. TypeError for an object that has none of the protocols.
bool ImportAny(PyObject* x, const ImportRequest& request, Tensor* tensor);

// The bytes of `x`, for kFromBuffer. ValueError for an object without the buffer protocol.
bool ImportBytes(PyObject* x, HeldBytes* bytes);

// Whether the class of `x` has __dlpack__. False with an error set if the lookup raised one.
bool FindDLPack(PyObject* x, bool* found);

// Under a NoCopiesScope, makes `copy` false, for other libraries: our own copies ask by themselves.
// False with an ExchangeError set if it asks for a copy.
bool HeedNoCopies(std::optional<bool>* copy);

// Replaces `tensor` by a copy on `device`.
bool ReplaceByCopy(Device device, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_IMPORT_OBJECT_H_
