#include "dovetail/python/module/values/numbers.h"

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/values/converted.h"
#include "dovetail/python/module/values/elements.h"

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

namespace {

// From so many on, a tensor of the numbers and its conversion take less time than single elements.
constexpr size_t kManyNumbers = 512;

// Types for which a cast rounds once, as WriteValue does.
bool IsCastExactly(DType dtype) {
  return dtype.kind == TypeKind::kInt || dtype.kind == TypeKind::kUInt || dtype == kFloat32 ||
         dtype == kFloat64;
}

template <typename T>
bool WriteEach(const std::vector<T>& numbers, absl::Span<const int64_t> shape, DType dtype,
               Tensor* result) {
  if (!NewHostTensor(shape, dtype, result)) return false;
  ElementWriter writer(result);
  WithoutGilIf(IsLong(*result), [&] {
    for (const T& number : numbers) {
      if (!writer.Write(number)) return false;
    }
    return true;
  });
  return writer.Finish();
}

}  // namespace

void NumberList::AddOther(const ElementValue& value) {
  for (const int64_t integer : integers_) others_.emplace_back(integer);
  for (const double real : reals_) others_.emplace_back(real);
  integers_.clear();
  reals_.clear();
  others_.push_back(value);
}

template <typename T>
bool NumberList::WriteTyped(std::vector<T>* numbers, absl::Span<const int64_t> shape, DType dtype,
                            Tensor* result) {
  if (numbers->size() < kManyNumbers || !IsCastExactly(dtype)) {
    return WriteEach(*numbers, shape, dtype, result);
  }
  const absl::StatusOr<Tensor> typed = Tensor::Wrap(std::move(*numbers), shape);
  if (!typed.ok()) return RaiseStatus(typed.status()), false;
  const InternalCopies allowed;
  return Converted(*typed, dtype, Device::Cpu(), result);
}

bool NumberList::Write(absl::Span<const int64_t> shape, DType dtype, Tensor* result) {
  if (!integers_.empty()) return WriteTyped(&integers_, shape, dtype, result);
  if (!reals_.empty()) return WriteTyped(&reals_, shape, dtype, result);
  return WriteEach(others_, shape, dtype, result);
}

}  // namespace dovetail::python
