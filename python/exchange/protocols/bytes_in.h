// The bytes of an object, for a reader that gives them a type of its own (frombuffer).
//
//   HeldBytes bytes;
//   if (!HoldBufferBytes(object, &bytes)) return nullptr;
//
// All functions need the GIL and return false with an error set.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BYTES_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BYTES_IN_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// One run of bytes. `release` lets go of the memory and is called once, on any thread.
struct HeldBytes {
  void* data;
  int64_t nbytes;
  Access access;
  Storage::Release release;
};

// Of an exact bytes object: its bytes stay where they are as long as it lives, so only the object
// is held.
bool HoldBytesObject(PyObject* object, HeldBytes* bytes);

// Of any object with the buffer protocol, whose buffer is held. ValueError for an object without
// the protocol or whose bytes do not lie in one run.
bool HoldBufferBytes(PyObject* object, HeldBytes* bytes);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BYTES_IN_H_
