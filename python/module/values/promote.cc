#include "dovetail/python/module/values/promote.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dovetail::python {
namespace {

enum class Category { kBool, kInteger, kFloat, kComplex };

std::optional<Category> CategoryOf(DType t) {
  if (t.lanes != 1) return std::nullopt;
  switch (t.kind) {
    case TypeKind::kBool:
      return Category::kBool;
    case TypeKind::kInt:
    case TypeKind::kUInt:
      return Category::kInteger;
    case TypeKind::kComplex:
    case TypeKind::kBComplex:
      return Category::kComplex;
    case TypeKind::kHandle:
      return std::nullopt;
    default:
      return Category::kFloat;
  }
}

std::optional<DType> PromoteIntegers(DType a, DType b) {
  if (a.kind == b.kind) return a.bits >= b.bits ? a : b;
  if (a.kind == TypeKind::kUInt) std::swap(a, b);  // a is signed
  if (a.bits > b.bits) return a;
  if (b.bits == 64) return std::nullopt;
  return DType{TypeKind::kInt, static_cast<uint8_t>(2 * b.bits), 1};
}

std::optional<DType> PromoteFloats(DType a, DType b) {
  if (a.bits < b.bits) std::swap(a, b);
  if (a.kind == TypeKind::kFloat && a.bits > 16) return a;
  if (a.bits == 16 && b.bits == 16) return kFloat32;  // float16 and bfloat16
  return std::nullopt;
}

// The complex type whose parts hold two floating-point types, the first of which is a part.
std::optional<DType> ComplexOf(DType part, DType real) {
  if (real.bits >= 16 && real != part) {
    const std::optional<DType> common = PromoteFloats(part, real);
    if (!common) return std::nullopt;
    part = *common;
  }
  return DType{part == kBFloat16 ? TypeKind::kBComplex : TypeKind::kComplex,
               static_cast<uint8_t>(2 * part.bits), 1};
}

std::optional<DType> PromoteOrNone(DType a, DType b) {
  std::optional<Category> ca = CategoryOf(a);
  std::optional<Category> cb = CategoryOf(b);
  if (!ca || !cb) return std::nullopt;
  if (*ca < *cb) {
    std::swap(a, b);
    std::swap(ca, cb);
  }
  if (*ca == Category::kComplex && *cb == Category::kFloat) return ComplexOf(a.part(), b);
  if (*ca != *cb) return a;
  switch (*ca) {
    case Category::kInteger:
      return PromoteIntegers(a, b);
    case Category::kFloat:
      return PromoteFloats(a, b);
    case Category::kComplex:
      return ComplexOf(a.part(), b.part());
    default:
      return a.bits >= b.bits ? a : b;
  }
}

}  // namespace

absl::StatusOr<DType> Promote(DType a, DType b) {
  if (a == b) return a;
  if (std::optional<DType> common = PromoteOrNone(a, b)) return *common;
  return absl::InvalidArgumentError(absl::StrCat("There is no common type of ", a.ToString(),
                                                 " and ", b.ToString(), "; give dtype=."));
}

}  // namespace dovetail::python
