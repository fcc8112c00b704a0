// The names of element types, of dtype_list.inc. C++17, and no library but <cstdint>.
//
//   NameOf(kDLFloat, 32)     // "float32"; the codes are DLPack's

#ifndef DOVETAIL_CORE_FREESTANDING_TYPE_NAMES_H_
#define DOVETAIL_CORE_FREESTANDING_TYPE_NAMES_H_

#include <cstdint>

#include "dovetail/core/freestanding/type_widths.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_dtype {

// nullptr for what is not in the list.
constexpr const char* NameOf(uint8_t code, uint8_t bits) {
#define DOVETAIL_DTYPE(id, kind, bits_, name) \
  if (code == kind && bits == bits_) return name;
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
  return nullptr;
}

// "float"; "element" for a kind that is not in the list.
constexpr const char* KindNameOf(uint8_t code) {
#define DOVETAIL_TYPE_KIND(id, code_, name, dlpack) \
  if (code == id) return name;
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_TYPE_KIND
  return "element";
}

}  // namespace internal_dtype
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_FREESTANDING_TYPE_NAMES_H_
