// Arithmetic progressions (start, start + step, start + 2 * step, …), and elements that an integer
// type does not hold, so that a cast would change them.
//
//   Progression numbers{.is_integer = true, .start = 3, .step = 2};
//   if (!CheckFits(numbers, 10, kInt8) || !Fill(numbers, &tensor)) return nullptr;
//
//   absl::StatusOr<ElementBlock> block = FindOutside(tensor, kInt8);
//   if (block.ok() && block->count > 0) …      // one of these does not fit

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_PROGRESSION_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_PROGRESSION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/progression.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Whether the first and the last of `count` numbers fit the type, and with them all between. False
// with an error set. For an integer type, the caller sees to it that real numbers have no
// fractions.
bool CheckFits(const Progression& numbers, int64_t count, DType dtype);

// Writes the numbers, which fit (CheckFits), to the elements of `tensor`, which is new, dense
// memory of the host. False with an error set if a signal handler raised one. Needs the GIL, which
// is released during long work.
bool Fill(const Progression& numbers, Tensor* tensor);

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

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_PROGRESSION_H_
