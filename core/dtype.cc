#include "dovetail/core/dtype.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

struct Entry {
  DType type;
  std::string_view name;
};

constexpr Entry kEntries[] = {
#define DOVETAIL_DTYPE(id, kind, bits, name) {k##id, name},
#include "dovetail/core/dtype_list.inc"
#undef DOVETAIL_DTYPE
};

std::string KindName(TypeKind kind) {
  switch (kind) {
#define DOVETAIL_TYPE_KIND(id, code, name) \
  case TypeKind::id:                       \
    return name;
#include "dovetail/core/dtype_list.inc"
#undef DOVETAIL_TYPE_KIND
  }
  return absl::StrCat("type code ", static_cast<int>(kind));
}

std::string KnownNames() {
  return absl::StrJoin(kEntries, ", ",
                       [](std::string* out, const Entry& e) { absl::StrAppend(out, e.name); });
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
    return absl::InvalidArgumentError(absl::StrCat("No type is known of kind ", KindName(kind),
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
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no element type. Known types: ", KnownNames(), "."));
}

std::string DType::ToString() const {
  for (const Entry& e : kEntries) {
    if (e.type.kind == kind && e.type.bits == bits) {
      return lanes == 1 ? std::string(e.name) : absl::StrCat(e.name, "x", lanes);
    }
  }
  return absl::StrCat(KindName(kind), " of ", static_cast<int>(bits), " bits x", lanes);
}

}  // namespace dovetail::inline DOVETAIL_ABI
