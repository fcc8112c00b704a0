#include "dovetail/python/module/values/promote.h"

#include <algorithm>
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

// A complex type whose parts hold both `complex` and `real`.
DType PromoteComplex(DType complex, DType real) {
  const int part = std::max<int>(complex.bits / 2, real.kind == TypeKind::kBFloat ? 32 : real.bits);
  return {TypeKind::kComplex, static_cast<uint8_t>(2 * part), 1};
}

std::optional<DType> PromoteOrNone(DType a, DType b) {
  std::optional<Category> ca = CategoryOf(a);
  std::optional<Category> cb = CategoryOf(b);
  if (!ca || !cb) return std::nullopt;
  if (*ca < *cb) {
    std::swap(a, b);
    std::swap(ca, cb);
  }
  if (*ca == Category::kComplex && *cb == Category::kFloat) return PromoteComplex(a, b);
  if (*ca != *cb) return a;
  switch (*ca) {
    case Category::kInteger:
      return PromoteIntegers(a, b);
    case Category::kFloat:
      return PromoteFloats(a, b);
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
