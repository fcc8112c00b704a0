#include "dovetail/core/dtype.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct Entry {
  DType type;
  std::string_view name;
};

constexpr Entry kEntries[] = {
#define DOVETAIL_DTYPE(id, kind, bits, name) {k##id, name},
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
};

std::string KindName(TypeKind kind) {
  switch (kind) {
#define DOVETAIL_TYPE_KIND(id, code, name, dlpack) \
  case TypeKind::id:                               \
    return name;
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_TYPE_KIND
  }
  return absl::StrCat("type code ", static_cast<int>(kind));
}

std::string KnownNames() {
  return absl::StrJoin(kEntries, ", ",
                       [](std::string* out, const Entry& e) { absl::StrAppend(out, e.name); });
}

// Names of the types in other libraries and in papers.
struct Alias {
  std::string_view alias, name;
};
constexpr Alias kAliases[] = {
    {"bf16", "bfloat16"},
    {"half", "float16"},
    {"f16", "float16"},
    {"float", "float32"},
    {"single", "float32"},
    {"f32", "float32"},
    {"double", "float64"},
    {"f64", "float64"},
    {"short", "int16"},
    {"i16", "int16"},
    {"i32", "int32"},
    {"int", "int64"},
    {"long", "int64"},
    {"i64", "int64"},
    {"u16", "uint16"},
    {"u32", "uint32"},
    {"u64", "uint64"},
    {"boolean", "bool"},
    {"bool_", "bool"},
    {"chalf", "complex32"},
    {"bcomplex", "bcomplex32"},
    {"complex", "complex64"},
    {"cfloat", "complex64"},
    {"c64", "complex64"},
    {"cdouble", "complex128"},
    {"c128", "complex128"},
    {"float8", "float8_e4m3fn"},
    {"float8_e8m0", "float8_e8m0fnu"},
    {"float6_e2m3", "float6_e2m3fn"},
    {"float6_e3m2", "float6_e3m2fn"},
    {"float4", "float4_e2m1fn"},
    {"float4_e2m1", "float4_e2m1fn"},
    {"e4m3", "float8_e4m3fn"},  // in NVIDIA's and OCP's papers, where it has no infinities
    {"e4m3fn", "float8_e4m3fn"},
    {"e5m2", "float8_e5m2"},
    {"e8m0", "float8_e8m0fnu"},
    {"ue8m0", "float8_e8m0fnu"},
    {"e2m1", "float4_e2m1fn"},
};

// The known name that an unknown name probably means; empty if there is none.
std::string Suggestion(std::string_view text) {
  // Drops the module of "torch.half".
  std::string name = absl::AsciiStrToLower(text.substr(text.rfind('.') + 1));
  if (absl::EndsWith(name, "_t")) name.resize(name.size() - 2);
  if (absl::StartsWith(name, "fp")) name.replace(0, 2, "float");
  for (const Alias& a : kAliases) {
    if (name == a.alias) return std::string(a.name);
  }
  for (const Entry& e : kEntries) {
    if (name == e.name) return name;
  }
  return "";
}

// Reads the lanes that follow a name: "", "x2" or "_x2".
bool ParseLanes(std::string_view text, uint16_t* lanes) {
  if (text.empty()) {
    *lanes = 1;
    return true;
  }
  if (text[0] == '_') text.remove_prefix(1);
  if (text.size() < 2 || text[0] != 'x') return false;
  text.remove_prefix(1);
  uint32_t value;
  if (text.find_first_not_of("0123456789") != text.npos || !absl::SimpleAtoi(text, &value) ||
      value == 0 || value > std::numeric_limits<uint16_t>::max()) {
    return false;
  }
  *lanes = static_cast<uint16_t>(value);
  return true;
}

}  // namespace

absl::StatusOr<DType> DType::Make(TypeKind kind, int bits, int lanes) {
  if (lanes < 1 || lanes > std::numeric_limits<uint16_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("A type has 1 to 65535 lanes, not ", lanes, "."));
  }
  DType type{kind, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
  if (bits < 0 || bits > std::numeric_limits<uint8_t>::max() || !type.is_known()) {
    return absl::InvalidArgumentError(absl::StrCat("There is no type of kind ", KindName(kind),
                                                   " with ", bits,
                                                   " bits. Known types: ", KnownNames(), "."));
  }
  return type;
}

absl::StatusOr<DType> DType::Parse(std::string_view text) {
  for (const Entry& e : kEntries) {
    if (!absl::StartsWith(text, e.name)) continue;
    DType type = e.type;
    if (ParseLanes(text.substr(e.name.size()), &type.lanes)) return type;
  }
  const std::string suggestion = Suggestion(text);
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no element type",
                   suggestion.empty() ? "." : absl::StrCat("; did you mean \"", suggestion, "\"?"),
                   " Known types: ", KnownNames(), "."));
}

std::string DType::ToString() const {
  for (const Entry& e : kEntries) {
    if (e.type.kind == kind && e.type.bits == bits) {
      return lanes == 1 ? std::string(e.name) : absl::StrCat(e.name, "x", lanes);
    }
  }
  return absl::StrCat(KindName(kind), " of ", static_cast<int>(bits), " bits x", lanes);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
