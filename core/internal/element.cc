#include "dovetail/core/internal/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/float_format.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

uint64_t LowBits(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

template <typename T>
uint64_t LoadAs(const char* at) {
  T code;
  std::memcpy(&code, at, sizeof code);
  return code;
}

template <typename T>
void StoreAs(char* at, uint64_t value) {
  const T code = static_cast<T>(value);
  std::memcpy(at, &code, sizeof code);
}

// Reads the `bits` bits that lie `bit_offset` bits from `data`, in native byte order.
uint64_t LoadCode(const void* data, int64_t bit_offset, int bits) {
  const char* at = static_cast<const char*>(data) + (bit_offset >> 3);
  switch (bits) {
    case 8:
      return LoadAs<uint8_t>(at);
    case 16:
      return LoadAs<uint16_t>(at);
    case 32:
      return LoadAs<uint32_t>(at);
    case 64:
      return LoadAs<uint64_t>(at);
  }
  const int shift = static_cast<int>(bit_offset & 7);
  uint64_t window = LoadAs<uint8_t>(at);
  if (shift + bits > 8) window |= LoadAs<uint8_t>(at + 1) << 8;
  return window >> shift & LowBits(bits);
}

void StoreCode(void* data, int64_t bit_offset, int bits, uint64_t code) {
  char* at = static_cast<char*>(data) + (bit_offset >> 3);
  switch (bits) {
    case 8:
      return StoreAs<uint8_t>(at, code);
    case 16:
      return StoreAs<uint16_t>(at, code);
    case 32:
      return StoreAs<uint32_t>(at, code);
    case 64:
      return StoreAs<uint64_t>(at, code);
  }
  const int shift = static_cast<int>(bit_offset & 7);
  const uint64_t mask = LowBits(bits) << shift;
  code = (code & LowBits(bits)) << shift;
  StoreAs<uint8_t>(at, (LoadAs<uint8_t>(at) & ~mask) | code);
  if (shift + bits > 8) {
    StoreAs<uint8_t>(at + 1, (LoadAs<uint8_t>(at + 1) & ~(mask >> 8)) | code >> 8);
  }
}

enum class NumberSet { kBool, kSigned, kUnsigned, kFloat, kComplex, kNone };

// kNone for what the list does not have. (Without a default: a new kind needs a case.)
constexpr NumberSet NumberSetOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kBool:
      return NumberSet::kBool;
    case TypeKind::kInt:
      return NumberSet::kSigned;
    case TypeKind::kUInt:
    case TypeKind::kHandle:
      return NumberSet::kUnsigned;
    case TypeKind::kComplex:
    case TypeKind::kBComplex:
      return NumberSet::kComplex;
    case TypeKind::kFloat:
    case TypeKind::kBFloat:
#define DOVETAIL_FLOAT_KIND(id, ...) case TypeKind::k##id:
#include "dovetail/core/internal/dtype_list.inc"
      return NumberSet::kFloat;
  }
  return NumberSet::kNone;
}

constexpr bool HasFormat(DType dtype) {
  const NumberSet set = NumberSetOf(dtype.kind);
  if (set == NumberSet::kComplex) return FloatFormatOf(dtype.part()).has_value();
  return FloatFormatOf(dtype).has_value() == (set == NumberSet::kFloat);
}
static_assert(std::all_of(std::begin(kAllDTypes), std::end(kAllDTypes), HasFormat),
              "a floating-point type has no DOVETAIL_FLOAT_FORMAT");

double LoadFloat(const void* data, int64_t bit_offset, DType dtype) {
  const uint64_t code = LoadCode(data, bit_offset, dtype.bits);
  if (dtype == kFloat32) return std::bit_cast<float>(static_cast<uint32_t>(code));
  return DecodeFloat(*FloatFormatOf(dtype), code);
}

std::string Print(const ElementValue& value) {
  return std::visit(
      [](auto v) -> std::string {
        if constexpr (std::is_same_v<decltype(v), bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<decltype(v), std::complex<double>>) {
          return absl::StrCat("(", v.real(), v.imag() < 0 ? "" : "+", v.imag(), "j)");
        } else {
          return absl::StrCat(v);
        }
      },
      value);
}

absl::Status Refuse(const ElementValue& value, DType dtype, std::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(Print(value), " can't be an element of type ",
                                                 dtype.ToString(), ": ", reason, "."));
}

// Stores a value in an integer element, or refuses it.
struct IntegerWriter {
  void* data;
  int64_t bit_offset;
  DType dtype;

  bool is_signed() const { return dtype.kind == TypeKind::kInt; }
  uint64_t highest() const { return LowBits(is_signed() ? dtype.bits - 1 : dtype.bits); }
  int64_t lowest() const { return is_signed() ? -static_cast<int64_t>(highest()) - 1 : 0; }
  absl::Status RefuseRange(const ElementValue& value) const {
    return Refuse(value, dtype, absl::StrCat("it holds ", lowest(), " to ", highest()));
  }
  absl::Status Store(uint64_t code) const {
    StoreCode(data, bit_offset, dtype.bits, code);
    return absl::OkStatus();
  }

  absl::Status operator()(bool v) const { return Store(v); }
  absl::Status operator()(uint64_t v) const { return v <= highest() ? Store(v) : RefuseRange(v); }
  absl::Status operator()(int64_t v) const {
    if (v >= 0) return (*this)(static_cast<uint64_t>(v));
    return v >= lowest() ? Store(static_cast<uint64_t>(v)) : RefuseRange(v);
  }
  absl::Status operator()(double v) const {
    if (std::isnan(v)) return Refuse(v, dtype, "it has no NaN");
    if (v < -0x1p63 || v >= 0x1p64) return RefuseRange(v);
    if (std::trunc(v) != v) return Refuse(v, dtype, "it has no fractions");
    return v < 0 ? (*this)(static_cast<int64_t>(v)) : (*this)(static_cast<uint64_t>(v));
  }
  absl::Status operator()(std::complex<double> v) const {
    return v.imag() == 0 ? (*this)(v.real()) : Refuse(v, dtype, "it has no imaginary part");
  }
};

// A double that rounds to every narrower format as `magnitude` itself does. If `magnitude` does not
// fit 53 bits, the last of these is set if any bit that is cut off is set (rounding to odd).
double RoundToOdd(uint64_t magnitude) {
  const int shift = 11 - std::countl_zero(magnitude | 1);
  if (shift <= 0) return static_cast<double>(magnitude);
  const bool inexact = (magnitude & LowBits(shift)) != 0;
  return std::ldexp(static_cast<double>(magnitude >> shift | inexact), shift);
}

// Converts any value such that encoding it as `part`, a floating-point type, rounds only once.
struct ToComplex {
  DType part;
  double Magnitude(uint64_t v) const {
    return part == kFloat64 ? static_cast<double>(v) : RoundToOdd(v);
  }
  std::complex<double> operator()(bool v) const { return v ? 1.0 : 0.0; }
  std::complex<double> operator()(uint64_t v) const { return Magnitude(v); }
  std::complex<double> operator()(int64_t v) const {
    const uint64_t bits = static_cast<uint64_t>(v);
    return v < 0 ? -Magnitude(-bits) : Magnitude(bits);
  }
  std::complex<double> operator()(double v) const { return v; }
  std::complex<double> operator()(std::complex<double> v) const { return v; }
};

absl::Status WriteFloat(void* data, int64_t bit_offset, DType dtype, const ElementValue& value) {
  const FloatFormat format = *FloatFormatOf(dtype);
  const std::complex<double> v = std::visit(ToComplex{dtype}, value);
  if (v.imag() != 0) return Refuse(value, dtype, "it has no imaginary part");
  if (std::isnan(v.real()) && !format.has_nan()) return Refuse(value, dtype, "it has no NaN");
  StoreCode(data, bit_offset, dtype.bits, EncodeFloat(format, v.real()));
  return absl::OkStatus();
}

}  // namespace

ElementValue ReadElement(const void* data, int64_t bit_offset, DType dtype) {
  switch (NumberSetOf(dtype.kind)) {
    case NumberSet::kBool:
      return LoadCode(data, bit_offset, dtype.bits) != 0;
    case NumberSet::kSigned: {
      const int unused = 64 - dtype.bits;
      const uint64_t code = LoadCode(data, bit_offset, dtype.bits) << unused;
      return static_cast<int64_t>(code) >> unused;
    }
    case NumberSet::kUnsigned:
      return LoadCode(data, bit_offset, dtype.bits);
    case NumberSet::kComplex: {
      const DType part = dtype.part();
      return std::complex<double>(LoadFloat(data, bit_offset, part),
                                  LoadFloat(data, bit_offset + part.bits, part));
    }
    case NumberSet::kFloat:
      return LoadFloat(data, bit_offset, dtype);
    case NumberSet::kNone:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

absl::Status WriteElement(void* data, int64_t bit_offset, DType dtype, const ElementValue& value) {
  switch (NumberSetOf(dtype.kind)) {
    case NumberSet::kBool: {
      const bool truth = std::visit([](auto v) { return v != decltype(v){}; }, value);
      StoreCode(data, bit_offset, dtype.bits, truth);
      return absl::OkStatus();
    }
    case NumberSet::kSigned:
    case NumberSet::kUnsigned:
      return std::visit(IntegerWriter{data, bit_offset, dtype}, value);
    case NumberSet::kComplex: {
      const DType part = dtype.part();
      const FloatFormat format = *FloatFormatOf(part);
      const std::complex<double> v = std::visit(ToComplex{part}, value);
      StoreCode(data, bit_offset, part.bits, EncodeFloat(format, v.real()));
      StoreCode(data, bit_offset + part.bits, part.bits, EncodeFloat(format, v.imag()));
      return absl::OkStatus();
    }
    case NumberSet::kFloat:
      return WriteFloat(data, bit_offset, dtype, value);
    case NumberSet::kNone:
      break;
  }
  return Refuse(value, dtype, "there is no such type");
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
