// NumberList: numbers of a list on their way to a tensor. As long as all are integers, or all are
// floats, they lie there as the elements of a tensor, which typed loops convert.
//
//   NumberList numbers;
//   numbers.AddInteger(3);
//   numbers.Add(ElementValue(2.5));     // from now on of several kinds
//   if (!numbers.Write(shape, dtype, &tensor)) return nullptr;

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_LIST_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_LIST_H_

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

class NumberList {
 public:
  // Says that `count` times as many numbers are to come; 1 is expected at first.
  void Multiply(int64_t count) {
    if (__builtin_mul_overflow(expected_, count, &expected_) || expected_ > kMostReserved) {
      expected_ = kMostReserved;
    }
  }

  void AddInteger(int64_t value) {
    if (!reals_.empty() || !others_.empty()) [[unlikely]]
      return AddOther(value);
    Append(value, &integers_);
  }
  void AddReal(double value) {
    if (!integers_.empty() || !others_.empty()) [[unlikely]]
      return AddOther(value);
    Append(value, &reals_);
  }
  void Add(const ElementValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return AddInteger(*integer);
    if (const auto* real = std::get_if<double>(&value)) return AddReal(*real);
    AddOther(value);
  }

  // The numbers as a tensor of that type: false with the error of the first that does not fit it,
  // or of a signal handler. `result` is written in any case. Uses the numbers up.
  bool Write(absl::Span<const int64_t> shape, DType dtype, Tensor* result);

 private:
  static constexpr int64_t kMostReserved = int64_t{1} << 24;

  template <typename T>
  void Append(T value, std::vector<T>* numbers) {
    if (numbers->capacity() == 0) [[unlikely]]
      numbers->reserve(static_cast<size_t>(expected_));
    numbers->push_back(value);
  }
  void AddOther(const ElementValue& value);
  template <typename T>
  bool WriteTyped(std::vector<T>* numbers, absl::Span<const int64_t> shape, DType dtype,
                  Tensor* result);

  int64_t expected_ = 1;
  // At most one of them has elements.
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
  std::vector<ElementValue> others_;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_LIST_H_
