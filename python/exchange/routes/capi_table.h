// The functions of the C interface (capi.h), implemented by the exchange library, and those of the
// installed dovetail package.
//
//   if (const DovetailCApi* package = FindPackagesCApi()) package->borrow(x, &wanted, nullptr, &b);

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_CAPI_TABLE_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_CAPI_TABLE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dlpack/dlpack.h"
#include "dovetail/python/capi.h"

namespace dovetail::python {

// Valid for the life of the process. Any thread.
const DovetailCApi* CApiTable();

// DovetailCApi.empty(). Any thread, without Python.
absl::Status MakeEmpty(DLDataType dtype, DLDevice device, int32_t ndim, const int64_t* shape,
                       DLManagedTensorVersioned** managed);

// For an extension that links the exchange library: the package has the backends of GPUs.
// nullptr without an error if the package is not imported, has another major version, or is this
// module. Valid for the life of the process. Needs the GIL.
const DovetailCApi* FindPackagesCApi();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_CAPI_TABLE_H_
