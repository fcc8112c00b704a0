// Arithmetic progressions (start, start + step, start + 2 * step, …), and elements that an integer
// type does not hold, so that a cast would change them.
//
//   Progression numbers{.is_integer = true, .start = 3, .step = 2};
//   if (!Fill(numbers, &tensor)) return nullptr;
//
//   absl::StatusOr<ElementBlock> block = FindOutside(tensor, kInt8);
//   if (block.ok() && block->count > 0) …      // one of these does not fit

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_PROGRESSION_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_PROGRESSION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

struct Progression {
  bool is_integer = true;
  int64_t start = 0, step = 1;           // of integers
  double real_start = 0, real_step = 1;  // of real numbers

  // start + i * step, which fits even where i * step does not.
  int64_t IntegerAt(int64_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start) +
                                static_cast<uint64_t>(WrappingMultiply(step, i)));
  }
  double RealAt(int64_t i) const { return real_start + static_cast<double>(i) * real_step; }
  ElementValue At(int64_t i) const {
    return is_integer ? ElementValue(IntegerAt(i)) : ElementValue(RealAt(i));
  }
};

// Writes the numbers to the elements of `tensor`, which is new, dense memory of the host. For an
// integer type, the caller sees to it that real numbers have no fractions. False with an error set
// if the first or the last number does not fit the type, or if a signal handler raised one. Needs
// the GIL, which is released during long work.
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
