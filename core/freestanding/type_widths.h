// Which element types exist: the pairs of kind and width of dtype_list.inc. C++17, and no library
// but <cstdint>.
//
//   IsKnownType(kDLFloat, 32, 1)     // true; the codes are DLPack's

#ifndef DOVETAIL_CORE_FREESTANDING_TYPE_WIDTHS_H_
#define DOVETAIL_CORE_FREESTANDING_TYPE_WIDTHS_H_

#include <cstdint>

#include "dovetail/core/freestanding/abi.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_dtype {

enum TypeCode : uint8_t {
#define DOVETAIL_TYPE_KIND(id, code, name, dlpack) id = code,
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_TYPE_KIND
};

// The widths of each kind: bit i stands for 2 * (i + 1) bits. It is a table because every import
// checks its type.
struct Widths {
  uint64_t of_kind[32] = {};
};
constexpr Widths MakeWidths() {
  Widths widths;
#define DOVETAIL_DTYPE(id, kind, bits, name) widths.of_kind[kind] |= uint64_t{1} << (bits / 2 - 1);
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
  return widths;
}
DOVETAIL_NOT_SHARED inline constexpr Widths kWidths = MakeWidths();

// Whether (kind, bits) is in the list and lanes is not 0.
constexpr bool IsKnownType(uint8_t kind, uint8_t bits, uint16_t lanes) {
  // The position of the bit in the table, rotated, so that a width of 0 or an odd width gives a
  // position of 64 or more.
  const auto below = static_cast<uint8_t>(bits - 2);
  const auto width = static_cast<uint8_t>(below >> 1 | below << 7);
  return kind < 32 && width < 64 && lanes != 0 && (kWidths.of_kind[kind] >> width & 1) != 0;
}

}  // namespace internal_dtype

// The C++ types of narrow floating-point elements: narrow_floats.h.
template <internal_dtype::TypeCode kCode, int kBits>
struct NarrowFloat;

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_FREESTANDING_TYPE_WIDTHS_H_
