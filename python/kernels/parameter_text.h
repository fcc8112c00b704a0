// What DOVETAIL_KERNEL says of one parameter, such as "eps=1e-6": its name and its default, read
// when the library is compiled.

#ifndef DOVETAIL_PYTHON_KERNELS_PARAMETER_TEXT_H_
#define DOVETAIL_PYTHON_KERNELS_PARAMETER_TEXT_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool AreEqual(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

constexpr bool IsPythonKeyword(const char* name) {
  constexpr const char* kAll[] = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  for (const char* keyword : kAll) {
    if (AreEqual(name, keyword)) return true;
  }
  return false;
}

// One of a parameter's strings: "x", "eps=1e-6", "mode='sum'"; or "*", after which the parameters
// are given by name.
struct ParameterText {
  char name[64] = {};
  const char* default_text = nullptr;  // what follows the "="
  bool is_star = false;
  bool is_valid = false;

  constexpr ParameterText() = default;
  constexpr explicit ParameterText(const char* text) {
    is_star = AreEqual(text, "*");
    size_t length = 0;
    for (; IsLetter(*text) || (length > 0 && IsDigit(*text)); ++text) {
      if (length + 1 == sizeof(name)) return;
      name[length++] = *text;
    }
    while (*text == ' ') ++text;
    if (*text == '=') {
      for (++text; *text == ' '; ++text) {
      }
      default_text = text;
      if (*text == '\0') return;
    } else if (*text != '\0') {
      is_valid = is_star;
      return;
    }
    is_valid = length > 0 && !IsPythonKeyword(name);
  }
};

constexpr const char* SkipDigits(const char* text) {
  while (IsDigit(*text)) ++text;
  return text;
}

// "3", "-0.5", "1e-6", "inf".
constexpr bool IsNumber(const char* text, bool is_integer) {
  if (*text == '-') ++text;
  if (!is_integer && (AreEqual(text, "inf") || AreEqual(text, "nan"))) return true;
  const char* end = SkipDigits(text);
  bool has_digits = end != text;
  if (!is_integer && *end == '.') {
    const char* const fraction = end + 1;
    end = SkipDigits(fraction);
    has_digits = has_digits || end != fraction;
  }
  if (!has_digits) return false;
  if (!is_integer && (*end == 'e' || *end == 'E')) {
    ++end;
    if (*end == '-' || *end == '+') ++end;
    const char* const exponent = end;
    end = SkipDigits(exponent);
    if (end == exponent) return false;
  }
  return *end == '\0';
}

// "'sum'" or "\"sum\"", with no quotation mark or backslash within.
constexpr bool IsQuoted(const char* text) {
  const char mark = *text;
  if (mark != '\'' && mark != '"') return false;
  for (++text; *text != mark; ++text) {
    if (*text == '\0' || *text == '\\') return false;
  }
  return text[1] == '\0';
}

// Whether a parameter of the kind can have the default.
constexpr bool IsDefaultOf(const char* text, int32_t kind, uint32_t flags) {
  constexpr uint32_t kMayBeNone = DOVETAIL_PARAMETER_OPTIONAL | DOVETAIL_PARAMETER_OUT;
  if (AreEqual(text, "None")) return (flags & kMayBeNone) != 0;
  if ((flags & DOVETAIL_PARAMETER_LIST) != 0) return false;
  switch (kind) {
    case DOVETAIL_KIND_FLOAT:
      return IsNumber(text, /*is_integer=*/false);
    case DOVETAIL_KIND_INT:
      return IsNumber(text, /*is_integer=*/true);
    case DOVETAIL_KIND_BOOL:
      return AreEqual(text, "True") || AreEqual(text, "False");
    case DOVETAIL_KIND_STRING:
      return IsQuoted(text);
    default:
      return false;
  }
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_PARAMETER_TEXT_H_
