// Exports tensors as DLPack capsules.
//
//   return ExportCapsule(tensor, {.is_versioned = true});
//
// Sources: the array API standard's array.__dlpack__ and DLPack's Python specification. Needs the
// GIL, and releases it for large copies.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_DLPACK_OUT_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_DLPACK_OUT_H_

#include <Python.h>

#include <cstdint>
#include <optional>

#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// What a consumer asks __dlpack__ for.
struct ExportRequest {
  std::optional<int64_t> stream;  // DLPack's number of the consumer's stream, or
  bool is_sycl_queue = false;     // the address of its SYCL queue
  bool is_versioned = false;      // the struct of DLPack 1.0 and later
  std::optional<Device> device;   // none: where the tensor is
  std::optional<bool> copy;       // none: only if `device` needs one
};

// A new capsule. nullptr with an error set: ExchangeError, or StreamError for a stream that the
// device does not have.
PyObject* ExportCapsule(const Tensor& tensor, const ExportRequest& request);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_DLPACK_OUT_H_
