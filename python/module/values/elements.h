// Elements one by one, for code and types that have no faster way: casts, lists, elements that
// share bytes.
//
//   ForEachElement(tensor.layout(), StepBits(tensor.dtype(), tensor.packing()), /*first=*/0,
//                  [&](int64_t bit) { return Use(ReadElement(tensor.raw_data(), bit, dtype)); });
//
//   ElementWriter writer(to);
//   for (const ElementValue& value : values) {
//     if (!writer.Write(value)) break;
//   }
//   if (!writer.Finish()) return nullptr;  // a value did not fit, or a signal handler raised
//
// The loops need no GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_ELEMENTS_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_ELEMENTS_H_

#include <Python.h>

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {

// Calls use(bit) for each element in row-major order, whatever the strides. `bit` is where the
// element begins, in bits; the layout's element 0 begins at `first`. Stops and returns false when
// `use` returns false.
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

// Writes the elements of a new tensor one after the other.
class ElementWriter {
 public:
  // `to` is dense memory of the host, and outlives the writer.
  explicit ElementWriter(Tensor* to) : data_(to->raw_data()), dtype_(to->dtype()) {}

  // False if the value does not fit, or if the work is to stop.
  bool Write(const ElementValue& value) {
    if (++count_ % kElementsPerQuestion == 0 && ScopedInterruption::IsAsked()) return false;
    if (!TryWriteValue(data_, bit_, dtype_, value).ok()) {
      misfit_ = value;
      return false;
    }
    bit_ += dtype_.bits;
    return true;
  }

  // After the loop, with the GIL: false with an error set if it ended early.
  bool Finish() const {
    alignas(16) char element[kMaxElementBytes] = {};
    return misfit_ ? WriteValue(element, 0, dtype_, *misfit_) : PyErr_Occurred() == nullptr;
  }

 private:
  static constexpr int64_t kElementsPerQuestion = 1 << 18;  // about 5 ms

  void* const data_;
  const DType dtype_;
  int64_t bit_ = 0;
  int64_t count_ = 0;
  std::optional<ElementValue> misfit_;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_ELEMENTS_H_
