// Which casts a copy may make, NumPy's five rules; and the common type of two element types.
//
//   Casting rule = Casting::kSameKind;
//   if (!ParseCasting(argument, &rule)) return nullptr;
//   if (!CanCast(kFloat64, kFloat16, rule)) ...           // it can
//   absl::StatusOr<DType> t = Promote(kInt64, kFloat16);  // kFloat16, as in torch
//
// Any thread, except ParseCasting, which needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_

#include <Python.h>

#include "absl/status/statusor.h"
#include "dovetail/core/dtype.h"

namespace dovetail::python {

enum class Casting {
  kNo,        // the same type
  kEquiv,     // the same type (byte orders are all native here)
  kSafe,      // keeps every value; int64 and uint64 to float64 count as safe, as in NumPy
  kSameKind,  // safe, or not back in the order bool, unsigned, signed, floating-point, complex
  kUnsafe,    // any
};

// Parses "no", "equiv", "safe", "same_kind", "unsafe". False with a ValueError or TypeError.
bool ParseCasting(PyObject* value, Casting* rule);
const char* CastingName(Casting rule);

// Whether the rule allows the cast. Does not check that the cast exists (core/copy.h).
bool CanCast(DType from, DType to, Casting rule);

// The type of data of several types that become one tensor, by the rules of torch.promote_types:
// the higher category wins (bool, integer, float, complex); within a category the wider type. For a
// signed and an unsigned integer it is a signed type that holds both.
// InvalidArgument if there is no common type: int64 and uint64, two narrow floats, lanes.
absl::StatusOr<DType> Promote(DType a, DType b);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_
