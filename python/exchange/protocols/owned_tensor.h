// A managed tensor that may be a Python object's, taken in as this library's own.
//
//   if (absl::Status s = ImportManaged(managed, &tensor); !s.ok()) return RaiseExchange(s);
//   tensor = Writable(tensor);                        // a copy that only the consumer has

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_OWNED_TENSOR_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_OWNED_TENSOR_H_

#include "absl/status/status.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/python/exchange/base/owner.h"

namespace dovetail::python {

// As ImportDLPack(), and the deleter sees no Python error when it runs, nor clears one
// (CallDeleterBesideError): a tensor may be dropped by a function that has failed. Takes ownership
// on success only.
template <typename Managed>
absl::Status ImportManaged(Managed* managed, Tensor* tensor) {
  return ImportDLPack(managed, &CallDeleterBesideError<Managed>, tensor);
}

// The tensor with write access: for memory that only the consumer has, or a consumer that never
// writes.
inline Tensor Writable(const Tensor& t) {
  return internal_tensor::MakeUnchecked(t.storage(), t.byte_offset(), t.dtype(), t.layout(),
                                        {.access = Access::kReadWrite, .packing = t.packing()});
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_OWNED_TENSOR_H_
