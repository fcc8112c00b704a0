// The common type of numbers of two types, where data of several are put together.
//
//   absl::StatusOr<DType> t = Promote(kInt64, kFloat16);        // kFloat16, as in torch
//
// torch's rules (torch.promote_types): a higher category of number wins, of bool, integer, float
// and complex; within one the wider type, which for a signed and an unsigned integer is a signed
// one that holds both. Any thread.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_PROMOTE_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_PROMOTE_H_

#include "absl/status/statusor.h"
#include "dovetail/core/dtype.h"

namespace dovetail::python {

// InvalidArgument where no type is the common one: int64 and uint64, two narrow floats, lanes.
absl::StatusOr<DType> Promote(DType a, DType b);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_PROMOTE_H_
