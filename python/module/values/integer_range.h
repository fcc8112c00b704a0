// Finds elements that an integer type does not hold, so that a cast would change them.
//
//   absl::StatusOr<ElementBlock> block = FindOutside(tensor, kInt8);
//   if (block.ok() && block->count > 0) …      // one of these does not fit

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_INTEGER_RANGE_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_INTEGER_RANGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Elements that follow each other.
struct ElementBlock {
  int64_t begin = 0;
  int64_t count = 0;
};

// Whether FindOutside() takes the type: integers of 8 to 64 bits, float32 and float64.
bool HasRange(DType dtype);

// The first block with an element that is outside the range of `integer` after it lost its
// fraction, or NaN; an empty block if there is none. `tensor` is row-major, without gaps, in memory
// of the host, of a type that HasRange(). Needs no GIL. Cancelled if the work is stopped.
absl::StatusOr<ElementBlock> FindOutside(const Tensor& tensor, DType integer);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_INTEGER_RANGE_H_
