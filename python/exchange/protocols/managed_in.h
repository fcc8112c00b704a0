// Imports a managed tensor that may be a Python object's.
//
//   if (absl::Status s = ImportManaged(managed, &tensor); !s.ok()) return RaiseExchange(s);
//
// As ImportDLPack(), and the deleter sees no Python error when it runs, nor clears one
// (CallDeleterBesideError): a tensor may be dropped by a function that has failed.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_MANAGED_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_MANAGED_IN_H_

#include "absl/status/status.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/python/exchange/base/owner.h"

namespace dovetail::python {

// Takes ownership on success only.
template <typename Managed>
absl::Status ImportManaged(Managed* managed, Tensor* tensor) {
  return ImportDLPack(managed, &CallDeleterBesideError<Managed>, tensor);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_MANAGED_IN_H_
