// Which casts a copy may make: NumPy's five rules.
//
//   Casting rule = Casting::kSameKind;
//   if (!ParseCasting(argument, &rule)) return nullptr;
//   if (!CanCast(kFloat64, kFloat16, rule)) ...           // it can
//
// Any thread, except ParseCasting, which needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_

#include <Python.h>

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_
