// DLPack in: `from_dlpack(x, /, *, device=None, copy=None)`.
//
//   PyObject* t = ImportObject(x);          // any object with __dlpack__, a buffer, …
//
// Sources: the array API standard's from_dlpack and DLPack's Python specification. All functions
// need the GIL and return nullptr (false) with an error set.

#ifndef DOVETAIL_PYTHON_SRC_DLPACK_IN_H_
#define DOVETAIL_PYTHON_SRC_DLPACK_IN_H_

#include <Python.h>

#include <optional>

#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/src/capsule.h"
#include "dovetail/python/src/exchange_in.h"

namespace dovetail::python {

// from_dlpack(x, /, *, device=None, copy=None): x has __dlpack__ and __dlpack_device__, or is a
// capsule of either kind.
PyObject* FromDLPackFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);

// How an import went, for explain().
struct ImportTrace {
  const char* door = nullptr;           // which way in was taken
  std::optional<CapsuleFacts> capsule;  // what the producer's capsule said, where there was one
  bool producer_copied = false;
  bool consumer_copied = false;
};

// What a consumer asks for.
struct ImportRequest {
  std::optional<Device> device;  // none: where it is
  std::optional<bool> copy;      // none: if need be
  ImportTrace* trace = nullptr;  // filled in where given
};

// A new dovetail.Tensor that shares the memory of `x`: by __dlpack__, or else by its buffer, its
// __array_interface__, its __cuda_array_interface__ or its __array__, which alone may have copied.
PyObject* ImportObject(PyObject* x);
// The same without an object around it. Of `request` the trace counts, and copy=False, which
// forbids a copy of the producer's. TypeError for an x that has none of these.
bool ImportAny(PyObject* x, const ImportRequest& request, Tensor* tensor);

// The two halves of that, which a number-like object stands between (data_kind.h): what exchanges
// tensors, and what only shows its memory. kNotTaken: x is nothing of the kind.
ExchangeResult TryImportTensor(PyObject* x, const ImportRequest& request, Tensor* tensor);
ExchangeResult TryImportMemory(PyObject* x, const ImportRequest& request, Tensor* tensor);

// Whether the class of `x` has __dlpack__. False with an error set where looking for it raised.
bool FindDLPack(PyObject* x, bool* found);

// Puts a new copy on `device` in the place of `tensor`.
bool ReplaceByCopy(Device device, Tensor* tensor);

// What from_dlpack does: fills `tensor`.
bool Import(PyObject* x, const ImportRequest& request, Tensor* tensor);

// Fills `tensor` from x's __dlpack__, which is called as `request` needs (dlpack_call.cc). Where
// the producer did not bring it to the device that was asked for, it is where x is. `*copied`:
// whether the producer made the copy that was asked for.
bool ImportByDLPack(PyObject* x, const ImportRequest& request, Tensor* tensor, bool* copied);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_DLPACK_IN_H_
