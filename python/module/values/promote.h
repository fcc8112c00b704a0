// The common type of two element types, for data of several types that become one tensor.
//
//   absl::StatusOr<DType> t = Promote(kInt64, kFloat16);        // kFloat16, as in torch
//
// The rules are those of torch.promote_types. The higher category wins (bool, integer, float,
// complex); within a category the wider type. For a signed and an unsigned integer it is a signed
// type that holds both. Any thread.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_PROMOTE_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_PROMOTE_H_

#include "absl/status/statusor.h"
#include "dovetail/core/dtype.h"

namespace dovetail::python {

// InvalidArgument if there is no common type: int64 and uint64, two narrow floats, lanes.
absl::StatusOr<DType> Promote(DType a, DType b);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_PROMOTE_H_
