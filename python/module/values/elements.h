// Walks over the elements of a tensor in row-major order, whatever its strides and packing.
//
//   ForEachElement(tensor.layout(), StepBits(tensor.dtype(), tensor.packing()), /*first=*/0,
//                  [&](int64_t bit) { return Use(ReadElement(tensor.raw_data(), bit, dtype)); });
//
// For code that treats elements one by one: casts, lists, elements that share bytes.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_ELEMENTS_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_ELEMENTS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/layout.h"

namespace dovetail::python {

// Calls use(bit) for each element; `bit` is its offset in bits from element 0 of the memory, and
// `first` that of the layout's element 0. Stops and returns false when `use` returns false.
template <typename Use>
bool ForEachElement(const Layout& layout, int64_t step_bits, int64_t first, Use use) {
  if (layout.num_elements() == 0) return true;
  absl::InlinedVector<internal_loop_nest::ElementLoop, Layout::kInlineRank> loops;
  for (int dim = layout.rank() - 1; dim >= 0; --dim) {
    if (layout.shape(dim) == 1) continue;  // its stride means nothing
    loops.push_back({layout.shape(dim), layout.stride(dim) * step_bits});
  }
  internal_loop_nest::ElementOdometer at(loops.data(), static_cast<int>(loops.size()));
  do {
    if (!use(first + at.offset)) return false;
  } while (at.Next());
  return true;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_ELEMENTS_H_
