#include "dovetail/python/module/values/number_cast.h"

#include <nanobind/nanobind.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/find_attribute.h"
#include "dovetail/python/module/objects/dtype_class.h"

namespace nb = nanobind;

namespace dovetail::python {

namespace {

// A complex number for a real tensor, which no rule converts.
bool RefuseComplex(DType to, const AssignRules& rules) {
  Raise(rules.refusal, absl::StrCat("The value is a complex number and the tensor is ",
                                    to.ToString(), ", which the rule '", CastingName(rules.casting),
                                    "' does not convert. Pass its real part, as in value.real."));
  return false;
}

}  // namespace

bool RefuseCast(std::string_view what, DType to, const AssignRules& rules) {
  const std::string name = to.ToString();
  Raise(rules.refusal,
        absl::StrCat("The value is ", what, " and the tensor is ", name, ", which the rule '",
                     CastingName(rules.casting),
                     "' does not convert. Convert it first, as in dovetail.tensor(value, "
                     "dtype=dovetail.",
                     name, "), or use dovetail.copyto(..., casting='unsafe')."));
  return false;
}

bool CheckNumberCast(PyObject* number, DType to, const AssignRules& rules) {
  if (!rules.covers_numbers || rules.casting == Casting::kUnsafe) return true;
  nb::object own;
  const bool exact =
      PyFloat_CheckExact(number) || PyLong_CheckExact(number) || PyComplex_CheckExact(number);
  if (!exact && !FindAttribute(number, "dtype", &own)) return false;
  if (own.is_valid() || PyBool_Check(number)) {
    DType from = kBool;
    if (own.is_valid() && !ParseDType(own.ptr(), &from)) return false;
    return CanCast(from, to, rules.casting) || RefuseCast(from.ToString(), to, rules);
  }
  if (PyComplex_Check(number)) {
    return to.is_complex() || RefuseComplex(to, rules);
  }
  if (PyLong_Check(number) || PyIndex_Check(number)) {
    return to.kind != TypeKind::kBool || RefuseCast("an int", to, rules);
  }
  const bool takes_fraction =
      to.kind != TypeKind::kBool && to.kind != TypeKind::kInt && to.kind != TypeKind::kUInt;
  return takes_fraction || RefuseCast("a float", to, rules);
}

}  // namespace dovetail::python
