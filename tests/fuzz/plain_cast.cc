#include "dovetail/tests/fuzz/plain_cast.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

#include "absl/strings/escaping.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/internal/float_format.h"

namespace dovetail::fuzz {
namespace {

bool IsInteger(DType t) {
  return t.kind == TypeKind::kInt || t.kind == TypeKind::kUInt || t.kind == TypeKind::kBool;
}

uint64_t LowBits(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

uint64_t CodeOf(const char* bytes, int bits) {
  uint64_t code = 0;
  std::memcpy(&code, bytes, static_cast<size_t>((bits + 7) / 8));
  return LowBits(code, bits);
}

Element OfCode(uint64_t code, int bits) {
  Element element = {};
  code = LowBits(code, bits);
  std::memcpy(element.data(), &code, sizeof code);
  return element;
}

std::optional<Element> Written(DType type, const ElementValue& value) {
  Element element = {};
  if (!WriteElement(element.data(), 0, type, value).ok()) return std::nullopt;
  return element;
}

// An integer as a float: by way of float32 to formats of 16 bits or less.
template <typename Integer>
std::optional<Element> FromInteger(Integer value, DType to) {
  if (to.bits > 16) return Written(to, ElementValue(value));
  return Written(to, ElementValue(static_cast<double>(static_cast<float>(value))));
}

std::optional<Element> FromFloat(double value, DType from, DType to) {
  if (IsInteger(to)) {
    const double whole = std::trunc(value);
    const bool is_signed = to.kind == TypeKind::kInt;
    const double end = std::ldexp(1.0, is_signed ? to.bits - 1 : to.bits);
    if (!(whole >= (is_signed ? -end : 0) && whole < end)) return std::nullopt;
    if (whole >= 0x1p63) return std::nullopt;
    return Written(to, ElementValue(static_cast<int64_t>(whole)));
  }
  if (from == kFloat64 && to.bits <= 16 && to != kFloat16) {
    value = static_cast<double>(static_cast<float>(value));
  }
  return Written(to, ElementValue(value));
}

}  // namespace

Element ElementAt(const char* memory, int64_t bit, DType dtype) {
  Element element = {};
  if (dtype.bits % 8 == 0) {
    std::memcpy(element.data(), memory + bit / 8, dtype.bits / 8);
    return element;
  }
  for (int i = 0; i < dtype.bits; ++i) {
    const int64_t at = bit + i;
    element[0] |= static_cast<char>((memory[at >> 3] >> (at & 7) & 1) << i);
  }
  return element;
}

std::string ElementHex(const Element& element) {
  return absl::BytesToHexString(std::string_view(element.data(), element.size()));
}

void PutElement(char* memory, int64_t bit, DType dtype, const Element& element) {
  if (dtype.bits % 8 == 0) {
    std::memcpy(memory + bit / 8, element.data(), dtype.bits / 8);
    return;
  }
  for (int i = 0; i < dtype.bits; ++i) {
    const int64_t at = bit + i;
    const int mask = 1 << (at & 7);
    char& byte = memory[at >> 3];
    byte = static_cast<char>((element[0] >> i & 1) != 0 ? byte | mask : byte & ~mask);
  }
}

std::optional<Element> PlainCast(const Element& from, DType from_type, DType to_type) {
  if (from_type == to_type) return from;
  const ElementValue value = ReadElement(from.data(), 0, from_type);
  if (to_type == kBool) return Written(kBool, value);
  if (from_type.is_complex() || to_type.is_complex()) return std::nullopt;
  if (const auto* number = std::get_if<double>(&value)) {
    return FromFloat(*number, from_type, to_type);
  }
  const auto number = std::visit(
      [](auto v) -> std::variant<int64_t, uint64_t> {
        if constexpr (std::is_same_v<decltype(v), uint64_t>) return v;
        if constexpr (std::is_integral_v<decltype(v)>) return static_cast<int64_t>(v);
        return int64_t{0};
      },
      value);
  return std::visit(
      [&](auto v) -> std::optional<Element> {
        if (IsInteger(to_type)) return OfCode(static_cast<uint64_t>(v), to_type.bits);
        return FromInteger(v, to_type);
      },
      number);
}

bool SameValue(const Element& a, const Element& b, DType dtype) {
  if (dtype.is_complex()) {
    const auto half = static_cast<uint8_t>(dtype.bits / 2);
    Element a_imaginary = {}, b_imaginary = {};
    std::memcpy(a_imaginary.data(), a.data() + half / 8, half / 8);
    std::memcpy(b_imaginary.data(), b.data() + half / 8, half / 8);
    const DType part = dtype.part();
    return SameValue(a, b, part) && SameValue(a_imaginary, b_imaginary, part);
  }
  const uint64_t x = CodeOf(a.data(), dtype.bits), y = CodeOf(b.data(), dtype.bits);
  if (x == y) return true;
  const std::optional<FloatFormat> format = FloatFormatOf(dtype);
  return format.has_value() && std::isnan(DecodeFloat(*format, x)) &&
         std::isnan(DecodeFloat(*format, y));
}

}  // namespace dovetail::fuzz
