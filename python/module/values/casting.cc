#include "dovetail/python/module/values/casting.h"

#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/float_format.h"
#include "dovetail/python/exchange/base/kind_order.h"

namespace dovetail::python {
namespace {

constexpr const char* kNames[] = {"no", "equiv", "safe", "same_kind", "unsafe"};

// Whether every number of one format is one of the other.
bool Holds(const FloatFormat& to, const FloatFormat& from) {
  const bool specials = from.specials == to.specials || from.specials == FloatSpecials::kNone ||
                        to.specials == FloatSpecials::kIeee;
  const bool sign = to.sign_bits >= from.sign_bits && (from.sign_bits != 0 || to.has_subnormals());
  auto largest = [](const FloatFormat& f) { return DecodeFloat(f, f.max_finite()); };
  auto least = [](const FloatFormat& f) { return DecodeFloat(f, f.has_subnormals() ? 1 : 0); };
  return specials && sign && to.mantissa_bits >= from.mantissa_bits &&
         largest(to) >= largest(from) && least(to) <= least(from);
}

// Of bool, integers and floating-point types.
bool IsSafe(DType from, DType to) {
  if (from == to || from == kBool) return true;
  if (KindOrder(from.kind) > KindOrder(to.kind)) return false;
  const std::optional<FloatFormat> format = FloatFormatOf(to);
  if (!format) return from.kind == to.kind ? from.bits <= to.bits : from.bits < to.bits;
  if (std::optional<FloatFormat> source = FloatFormatOf(from)) return Holds(*format, *source);
  if (to == kFloat64) return true;
  const int bits = from.kind == TypeKind::kInt ? from.bits - 1 : from.bits;
  return bits <= format->mantissa_bits + 1 &&
         std::ldexp(1.0, bits) <= DecodeFloat(*format, format->max_finite());
}

}  // namespace

const char* CastingName(Casting rule) { return kNames[static_cast<int>(rule)]; }

bool ParseCasting(PyObject* value, Casting* rule) {
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "casting must be a str, not %.200s", Py_TYPE(value)->tp_name);
    return false;
  }
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (PyUnicode_CompareWithASCIIString(value, kNames[i]) == 0) {
      *rule = static_cast<Casting>(i);
      return true;
    }
  }
  PyErr_Format(PyExc_ValueError,
               "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe', not %R",
               value);
  return false;
}

bool CanCast(DType from, DType to, Casting rule) {
  if (from == to || rule == Casting::kUnsafe) return true;
  if (from.lanes != to.lanes || KindOrder(from.kind) < 0 || KindOrder(to.kind) < 0) return false;
  switch (rule) {
    case Casting::kSafe:
      return (!from.is_complex() || to.is_complex()) &&
             IsSafe(DType{from.kind, from.bits, 1}.part(), DType{to.kind, to.bits, 1}.part());
    case Casting::kSameKind:
      return IsSameKindCast(from.kind, to.kind);
    default:
      return false;
  }
}

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
