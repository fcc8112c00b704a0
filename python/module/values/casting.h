// Which casts a copy may make: NumPy's five rules.
//
//   Casting rule = Casting::kSameKind;
//   if (!ParseCasting(argument, &rule)) return nullptr;
//   if (!CanCast(kFloat64, kFloat16, rule)) ...           // it can
//
// Any thread, but for ParseCasting, which needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_

#include <Python.h>

#include "dovetail/core/dtype.h"

namespace dovetail::python {

enum class Casting {
  kNo,     // the same type
  kEquiv,  // the same type (byte orders are all native here)
  kSafe,   // every value stays what it is; int64 and uint64 to float64 count as such, as in NumPy
  kSameKind,  // safe, or no step back along bool, unsigned, signed, floating-point, complex
  kUnsafe,    // any that there is
};

// Of the words "no", "equiv", "safe", "same_kind", "unsafe". False with a ValueError or TypeError.
bool ParseCasting(PyObject* value, Casting* rule);
const char* CastingName(Casting rule);

// Whether the rule allows a cast. That there is one (core/copy.h) is not asked.
bool CanCast(DType from, DType to, Casting rule);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_CASTING_H_
