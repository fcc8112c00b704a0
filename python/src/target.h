// What convert() knows of each library that it makes tensors of: a table of their differences.
//
//   const Target* t = FindTarget(type);           // nullptr: not in the table
//   if (!t->TakesAccess(tensor.access(), device)) ...

#ifndef DOVETAIL_PYTHON_SRC_TARGET_H_
#define DOVETAIL_PYTHON_SRC_TARGET_H_

#include <Python.h>

#include <cstdint>

#include "absl/types/span.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/python/src/peer_type.h"

namespace dovetail::python {

// How an object of the class is made from a dovetail.Tensor.
enum class TargetDoor {
  kOwn,          // it is one
  kNumPy,        // through NumPy's C interface
  kExchangeApi,  // through the class's DLPack exchange API, or else its function
  kFunction,     // by calling the function below with the tensor
};

// Read-only memory that a library takes without a copy.
enum class ReadOnlyMemory {
  kNone,  // it would write to it
  kCpu,   // only on the CPU
  kAny,
};

struct Target {
  PeerType& type;
  TargetDoor door;
  // What the library takes without a copy. What it does not take is copied, unless copy=False.
  ReadOnlyMemory takes_read_only;
  bool takes_negative_strides;
  bool takes_strides;           // any that leave gaps or are not in row-major order
  int alignment;                // of element 0, in bytes
  const char* function_module;  // for kFunction, and where there is no exchange API
  const char* function;

  bool TakesAccess(Access access, DeviceType device) const {
    return access == Access::kReadWrite || takes_read_only == ReadOnlyMemory::kAny ||
           (takes_read_only == ReadOnlyMemory::kCpu && device == DeviceType::kCpu);
  }
  bool TakesSigns(absl::Span<const int64_t> strides) const {
    int64_t signs = 0;
    for (int64_t stride : strides) signs |= stride;
    return takes_negative_strides || signs >= 0;
  }

  // By which the class's exchange API makes an object of a struct; nullptr where there is none.
  DLPackManagedTensorToPyObjectNoSync exchange_function() const {
    const DLPackExchangeAPI* api = type.exchange_api();
    return door == TargetDoor::kExchangeApi && api != nullptr
               ? api->managed_tensor_to_py_object_no_sync
               : nullptr;
  }
};

// The entry of a class, or nullptr.
Target* FindTarget(PyTypeObject* type);

// The names of all entries, for an error.
const char* TargetNames();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_TARGET_H_
