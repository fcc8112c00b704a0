// DLPack capsules: created around managed tensors, and consumed.
//
//   PyObject* c = MakeCapsule(std::move(managed));        // "dltensor_versioned", or "dltensor"
//   if (!ConsumeCapsule(c, &tensor, &flags)) return nullptr;
//
// A capsule is consumed once; its name then begins with "used_". A capsule that nobody consumes
// frees its tensor. Source: DLPack's "Python Specification for DLPack".

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_CAPSULE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_CAPSULE_H_

#include <Python.h>

#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/managed.h"

namespace dovetail::python {

// A new capsule. On failure the tensor is freed, and the result is nullptr with an error set.
PyObject* MakeCapsule(UniqueDLPack managed);
PyObject* MakeCapsule(UniqueDLPackLegacy managed);

// What a capsule says besides the tensor.
struct CapsuleFacts {
  DLPackVersion version = {0, 0};  // 0.0: legacy, of DLPack before 1.0
  uint64_t flags = 0;

  bool is_legacy() const { return version.major == 0; }
  bool is_copied() const { return (flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0; }
};

// Moves the capsule's tensor into `tensor` and marks the capsule used. False with an ExchangeError
// set for a used capsule, a capsule of another kind and an invalid tensor: the capsule is unchanged
// and still owns its tensor. A tensor of another major version is freed and its capsule marked
// used, as the specification requires.
bool ConsumeCapsule(PyObject* capsule, Tensor* tensor, CapsuleFacts* facts);

// The same for what `x` returned from a call of `function`: steals `returned`. TypeError for
// anything but a capsule.
bool ConsumeReturned(PyObject* x, const char* function, PyObject* returned, Tensor* tensor,
                     CapsuleFacts* facts);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_CAPSULE_H_
