// Imports an object by calling its __dlpack__ method.
//
// The first call passes the new keywords. A producer that does not know them (older than the array
// API 2023.12) is called again without them. A producer that refuses dl_device= or copy=True is
// called again without that keyword, and the consumer makes the copy. An error of the producer
// becomes the cause of an ExchangeError.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_DLPACK_CALL_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_DLPACK_CALL_H_

#include <Python.h>

#include <optional>

#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/protocols/capsule.h"

namespace dovetail::python {

// Describes how an import went, for explain().
struct ImportTrace {
  const char* way = nullptr;            // the route that was taken, by its name in routes.h
  std::optional<CapsuleFacts> capsule;  // what the producer's capsule said, if there was one
  bool producer_copied = false;
  bool consumer_copied = false;
};

// What a consumer asks for.
struct ImportRequest {
  std::optional<Device> device;  // none: where the object is
  std::optional<bool> copy;      // none: only if `device` needs one
  // Whether the producer of `x` orders nothing (stream −1), because the consumer works on the
  // producer's own stream. Asked for memory that has streams alone. Null: it orders.
  bool (*is_unordered)(PyObject* x) = nullptr;
  ImportTrace* trace = nullptr;  // filled in where given
};

// Fills `tensor` from x.__dlpack__(), called as `request` needs. The tensor stays on the device of
// `x` if the producer did not bring it to the requested one. `*copied` tells whether the producer
// made the requested copy. False with an error set. Needs the GIL.
bool ImportByDLPack(PyObject* x, const ImportRequest& request, Tensor* tensor, bool* copied);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_DLPACK_CALL_H_
