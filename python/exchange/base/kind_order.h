// NumPy's casting rule same_kind, and the order of kinds of numbers in which it goes up.
//
//   KindOrder(TypeKind::kInt) < KindOrder(TypeKind::kFloat)     // true
//   IsSameKindCast(TypeKind::kFloat, TypeKind::kInt)            // false

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_KIND_ORDER_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_KIND_ORDER_H_

#include "dovetail/core/dtype.h"

namespace dovetail::python {

// bool, unsigned, signed, floating-point of all formats, complex; -1 for what is no number.
constexpr int KindOrder(TypeKind kind) {
  switch (kind) {
    case TypeKind::kBool:
      return 0;
    case TypeKind::kUInt:
      return 1;
    case TypeKind::kInt:
      return 2;
    case TypeKind::kComplex:
    case TypeKind::kBComplex:
      return 4;
    case TypeKind::kHandle:
      return -1;
    default:
      return 3;
  }
}

// Whether a cast keeps the kind of number or makes it more general. Says nothing of widths and
// lanes.
constexpr bool IsSameKindCast(TypeKind from, TypeKind to) {
  return KindOrder(from) >= 0 && KindOrder(from) <= KindOrder(to);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_KIND_ORDER_H_
