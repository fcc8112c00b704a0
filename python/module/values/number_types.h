// One C++ function for each element type that is a number of C++: integers of 8 to 64 bits, float32
// and float64.
//
//   using Filler = bool (*)(void* data, int64_t count);
//   Filler filler = OfNumberType<Filler>(dtype, []<typename T>() { return &FillAs<T>; });

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_TYPES_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_TYPES_H_

#include <complex>
#include <cstdint>
#include <type_traits>

#include "dovetail/core/dtype.h"

namespace dovetail::python {

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_TYPES_H_
