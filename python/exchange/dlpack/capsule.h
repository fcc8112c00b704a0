// DLPack capsules: made around managed tensors, and consumed.
//
//   PyObject* c = MakeCapsule(std::move(managed));        // "dltensor_versioned", or "dltensor"
//   if (!ConsumeCapsule(c, &tensor, &flags)) return nullptr;
//
// A capsule is consumed once: its name then begins with "used_". One that nobody consumes frees its
// tensor. Source: DLPack's "Python Specification for DLPack".

#ifndef DOVETAIL_PYTHON_EXCHANGE_DLPACK_CAPSULE_H_
#define DOVETAIL_PYTHON_EXCHANGE_DLPACK_CAPSULE_H_

#include <Python.h>

#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/managed.h"

namespace dovetail::python {

// New references; nullptr with an error set, and the tensor freed.
PyObject* MakeCapsule(UniqueDLPack managed);
PyObject* MakeCapsule(UniqueDLPackLegacy managed);

// What a capsule said beside the tensor.
struct CapsuleFacts {
  DLPackVersion version = {0, 0};  // 0.0: legacy, of DLPack before 1.0
  uint64_t flags = 0;

  bool is_legacy() const { return version.major == 0; }
  bool is_copied() const { return (flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0; }
};

// Moves the capsule's tensor into `tensor` and marks the capsule used. On an error (ExchangeError:
// used already, no DLPack capsule, an invalid tensor) the capsule is as it was and still owns its
// tensor; only one of another major version is freed and marked used, as the specification asks.
bool ConsumeCapsule(PyObject* capsule, Tensor* tensor, CapsuleFacts* facts);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_DLPACK_CAPSULE_H_
