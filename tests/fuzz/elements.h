// Elements: a view of a tensor as the plain list of where its elements lie, to compare Tensor with.
//
//   Elements elements = Elements::Of(tensor, memory);
//   while (!input.ended()) RandomView(input, &tensor, &elements, memory);
//
// RandomView does the same to the tensor and to the list, element by element, and compares them.

#ifndef DOVETAIL_TESTS_FUZZ_ELEMENTS_H_
#define DOVETAIL_TESTS_FUZZ_ELEMENTS_H_

#include <cstdint>
#include <vector>

#include "dovetail/core/tensor.h"
#include "dovetail/tests/fuzz/input.h"

namespace dovetail::fuzz {

struct Elements {
  std::vector<int64_t> shape;
  std::vector<int64_t> bits;  // of each element from `memory`, in row-major order

  static Elements Of(const Tensor& tensor, const void* memory);
  int rank() const { return static_cast<int>(shape.size()); }
  friend bool operator==(const Elements&, const Elements&) = default;
};

// A slice, an element of a dimension, a permutation, a reshape or a broadcast. Ends the program if
// the tensor and the list differ afterwards, or if the tensor refuses what it must not.
void RandomView(Input& input, Tensor* tensor, Elements* elements, const void* memory);

}  // namespace dovetail::fuzz

#endif  // DOVETAIL_TESTS_FUZZ_ELEMENTS_H_
