// The types that other libraries register with NumPy: ml_dtypes' bfloat16, float8, int4, …
//
//   const DType* dtype = FindUserDType(array->descr);      // nullptr for a type of NumPy's own
//
// NumPy gives each such type a number when it is registered, and no two processes agree on it. The
// type is known by the name and the size that its numpy.dtype tells, so no library is imported for
// it.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_USER_TYPES_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_USER_TYPES_H_

#include "dovetail/core/dtype.h"
#include "dovetail/python/exchange/base/numpy_abi.h"

namespace dovetail::python {

// The DType of a registered type, for as long as the process lives; nullptr for all others. An
// element of fewer than 8 bits has a byte of its own in NumPy: Packing::kPadded. Needs the GIL;
// leaves no error set.
const DType* FindUserDType(NumPyDescr* descr);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_USER_TYPES_H_
