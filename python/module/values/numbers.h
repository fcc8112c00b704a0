// Python's numbers on their way to a tensor: element types that are numbers of C++, the rules for
// writing a number to a tensor, and lists of numbers.
//
//   using Filler = bool (*)(void* data, int64_t count);
//   Filler filler = OfNumberType<Filler>(dtype, []<typename T>() { return &FillAs<T>; });
//
//   if (!CheckNumberCast(number, tensor.dtype(), rules)) return false;
//
//   NumberList numbers;
//   numbers.AddInteger(3);
//   numbers.Add(ElementValue(2.5));     // from now on of several kinds
//   if (!numbers.Write(shape, dtype, &tensor)) return nullptr;
//
// Everything but OfNumberType needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_NUMBERS_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_NUMBERS_H_

#include <Python.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/module/values/casting.h"

namespace dovetail::python {

// Integers of 8 to 64 bits, float32 and float64.
template <typename T>
inline constexpr bool kIsNumberType = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

// get.operator()<T>() for the C++ type T of `dtype`; Result() for a type without one.
template <typename Result, typename Get>
Result OfNumberType(DType dtype, Get get) {
#define DOVETAIL_CPP_TYPE(type, id)                             \
  if constexpr (kIsNumberType<type>) {                          \
    if (dtype == k##id) return get.template operator()<type>(); \
  }
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_CPP_TYPE
  return Result();
}

struct AssignRules {
  Casting casting = Casting::kSameKind;
  // The exception for a cast that is not allowed.
  PyObject* refusal = PyExc_ValueError;
  // Whether `casting` holds for numbers as well: in copyto() it does, in t[key] = 1.5 it does not.
  bool covers_numbers = false;
};

// Sets `rules.refusal` and returns false. `what` is the type of the value.
bool RefuseCast(std::string_view what, DType to, const AssignRules& rules);

// False with `rules.refusal` set if the rules don't let the number be cast to `to`, as in
// copyto(t, 1.5). As in NumPy, Python's int, float and complex have a kind and no size: an int fits
// every type but bool, a float floating-point and complex types. A bool, and a number with a dtype,
// such as NumPy's scalars, are cast as arrays of their type are.
bool CheckNumberCast(PyObject* number, DType to, const AssignRules& rules);

// The numbers of a list. As long as all are integers, or all are floats, they lie there as the
// elements of a tensor, which typed loops convert.
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

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_NUMBERS_H_
