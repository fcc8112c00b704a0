// ElementWriter: writes the elements of a new tensor one after the other, for types that have no
// faster way. The loop needs no GIL.
//
//   ElementWriter writer(to);
//   for (const ElementValue& value : values) {
//     if (!writer.Write(value)) break;
//   }
//   if (!writer.Finish()) return nullptr;  // a value did not fit, or a signal handler raised

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_ELEMENT_WRITER_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_ELEMENT_WRITER_H_

#include <Python.h>

#include <cstdint>
#include <optional>

#include "dovetail/core/internal/interruption.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {

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

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_ELEMENT_WRITER_H_
