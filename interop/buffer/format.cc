#include "dovetail/interop/buffer/format.h"

#include <sys/types.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct FormatCode {
  const char* code;
  TypeKind kind;
  int64_t native_size;    // of the C type
  int64_t standard_size;  // after =, <, > or !; the native size if the struct module defines none
};

// Several codes can stand for one type. Exports write the first, as NumPy does.
constexpr FormatCode kCodes[] = {
    {"?", TypeKind::kBool, sizeof(bool), 1},
    {"b", TypeKind::kInt, 1, 1},
    {"B", TypeKind::kUInt, 1, 1},
    {"c", TypeKind::kUInt, 1, 1},
    {"h", TypeKind::kInt, sizeof(short), 2},
    {"H", TypeKind::kUInt, sizeof(unsigned short), 2},
    {"i", TypeKind::kInt, sizeof(int), 4},
    {"I", TypeKind::kUInt, sizeof(unsigned int), 4},
    {"l", TypeKind::kInt, sizeof(long), 4},
    {"L", TypeKind::kUInt, sizeof(unsigned long), 4},
    {"q", TypeKind::kInt, sizeof(long long), 8},
    {"Q", TypeKind::kUInt, sizeof(unsigned long long), 8},
    {"n", TypeKind::kInt, sizeof(ssize_t), sizeof(ssize_t)},
    {"N", TypeKind::kUInt, sizeof(size_t), sizeof(size_t)},
    {"e", TypeKind::kFloat, 2, 2},
    {"f", TypeKind::kFloat, sizeof(float), 4},
    {"d", TypeKind::kFloat, sizeof(double), 8},
    {"Zf", TypeKind::kComplex, 2 * sizeof(float), 8},
    {"Zd", TypeKind::kComplex, 2 * sizeof(double), 16},
    {"F", TypeKind::kComplex, 2 * sizeof(float), 8},
    {"D", TypeKind::kComplex, 2 * sizeof(double), 16},
    {"P", TypeKind::kHandle, sizeof(void*), sizeof(void*)},
};

// The codes of one letter, by that letter; nullptr for other letters.
constexpr auto kLetters = [] {
  std::array<const FormatCode*, 128> letters{};
  for (const FormatCode& c : kCodes) {
    if (c.code[1] == '\0') letters[static_cast<size_t>(c.code[0])] = &c;
  }
  return letters;
}();

const FormatCode* FindCode(std::string_view code) {
  if (code.size() == 1) {
    const auto letter = static_cast<unsigned char>(code[0]);
    return letter < kLetters.size() ? kLetters[letter] : nullptr;
  }
  for (const FormatCode& c : kCodes) {
    if (c.code == code) return &c;
  }
  return nullptr;
}

// The error message for an unsupported code, found by the code's first letter.
struct Refusal {
  std::string_view first;
  std::string_view advice;
};
constexpr Refusal kRefusals[] = {
    {"g", "is long double, which tensors can't hold; convert to float64 first"},
    {"Zg", "is complex long double, which tensors can't hold; convert to complex128 first"},
    {"O", "holds Python objects; convert to an array of numbers first"},
    {"sp", "holds byte strings; view them as uint8 first"},
    {"wu", "holds text; only numbers can be shared"},
    {"T", "holds structs; pass one of the fields"},
    {"(0123456789", "holds arrays in its elements; add their dimensions to the shape instead"},
    {"x", "holds padding; pass the field of a struct"},
};

absl::Status Error(std::string_view format, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("The buffer's format \"", format, "\" ", what, "."));
}

absl::Status Refuse(std::string_view format, std::string_view code) {
  for (const Refusal& r : kRefusals) {
    const bool matches = r.first[0] == 'Z' ? code == r.first
                                           : !code.empty() && r.first.find(code[0]) != r.first.npos;
    if (matches) return Error(format, r.advice);
  }
  return Error(format, "is unknown; the codes of single numbers in Python's struct module are");
}

}  // namespace

absl::StatusOr<DType> DTypeFromFormat(std::string_view format, int64_t itemsize) {
  std::string_view code = format;
  bool big = std::endian::native == std::endian::big;
  switch (code.empty() ? '\0' : code[0]) {
    case '<':
      big = false;
      code.remove_prefix(1);
      break;
    case '>':
    case '!':
      big = true;
      code.remove_prefix(1);
      break;
    case '@':
    case '=':
    case '^':
      code.remove_prefix(1);
      break;
    default:
      break;
  }
  const FormatCode* const found = FindCode(code);
  if (found == nullptr) return Refuse(format, code);
  if (itemsize != found->native_size && itemsize != found->standard_size) {
    return Error(format, absl::StrCat("does not go with its itemsize of ", itemsize));
  }
  if (itemsize > 1 && big != (std::endian::native == std::endian::big)) {
    return Error(format,
                 absl::StrCat("is in ", big ? "big" : "little",
                              "-endian byte order, which is not this machine's; convert "
                              "it first, as with numpy's a.astype(a.dtype.newbyteorder(\"=\"))"));
  }
  return DType{found->kind, static_cast<uint8_t>(itemsize * 8)};
}

absl::StatusOr<const char*> FormatFromDType(DType dtype) {
  for (const FormatCode& c : kCodes) {
    if (c.kind == dtype.kind && c.native_size * 8 == dtype.bits && dtype.lanes == 1) return c.code;
  }
  return absl::InvalidArgumentError(absl::StrCat("Python's buffer protocol has no format for ",
                                                 dtype.ToString(),
                                                 "; exchange it over DLPack instead."));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
