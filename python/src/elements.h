// Walks over the elements of a tensor in row-major order, whatever its strides and packing.
//
//   ForEachElement(tensor.layout(), StepBits(tensor.dtype(), tensor.packing()), /*first=*/0,
//                  [&](int64_t bit) { return Use(ReadElement(tensor.raw_data(), bit, dtype)); });
//
// For the places that treat elements one by one: casts, lists, elements that share bytes.

#ifndef DOVETAIL_PYTHON_SRC_ELEMENTS_H_
#define DOVETAIL_PYTHON_SRC_ELEMENTS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/layout.h"

namespace dovetail::python {

// Calls use(bit) for the element that starts `bit` bits from element 0 of the memory, `first` being
// the offset of the layout's own element 0. Stops, and returns false, as soon as `use` does.
template <typename Use>
bool ForEachElement(const Layout& layout, int64_t step_bits, int64_t first, Use use) {
  if (layout.num_elements() == 0) return true;
  const int rank = layout.rank();
  absl::InlinedVector<int64_t, Layout::kInlineRank> index(rank, 0);
  int64_t bit = first;
  while (true) {
    if (!use(bit)) return false;
    int dim = rank - 1;
    for (; dim >= 0; --dim) {
      if (layout.shape(dim) == 1) continue;  // its stride means nothing
      const int64_t step = layout.stride(dim) * step_bits;
      if (++index[dim] < layout.shape(dim)) {
        bit += step;
        break;
      }
      bit -= (layout.shape(dim) - 1) * step;
      index[dim] = 0;
    }
    if (dim < 0) return true;
  }
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ELEMENTS_H_
