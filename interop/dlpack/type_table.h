// Converts between DLDataType and DType. One table serves both directions.
//
//   DLDataType d = ToDLDataType(kFloat32);      // {kDLFloat, 32, 1}
//   DType t = ToDType(d);                       // kFloat32; ask t.is_known() of a foreign one
//
// Both enumerations use the same numbers (checked by static_assert below), so a conversion is a
// cast. A code that neither knows passes through unchanged; is_known() is then false.

#ifndef DOVETAIL_INTEROP_DLPACK_TYPE_TABLE_H_
#define DOVETAIL_INTEROP_DLPACK_TYPE_TABLE_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/dlpack/bijection.h"
#include "dovetail/interop/dlpack/newer_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct TypeCodePair {
  DLDataTypeCode dlpack;
  TypeKind core;
};

DOVETAIL_NOT_SHARED inline constexpr TypeCodePair kTypeCodes[] = {
#define DOVETAIL_TYPE_KIND(id, code, name, dlpack) {dlpack, TypeKind::id},
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_TYPE_KIND
};
static_assert(internal_dlpack::IsBijection(kTypeCodes));
static_assert(internal_dlpack::NumbersAgree(kTypeCodes));

namespace internal_dlpack {

// Forces `x` into a register, so that the compiler neither merges loads nor splits stores.
[[gnu::always_inline]] constexpr uint32_t InRegister(uint32_t x) {
  if (!std::is_constant_evaluated()) asm("" : "+r"(x));
  return x;
}

}  // namespace internal_dlpack

// The two structs have the same members at the same offsets. A 32-bit load right after separate
// stores of its bytes defeats store forwarding and stalls, and every exchange would hit that. So
// these functions store a struct as one word, and load a struct that another library wrote member
// by member.
[[gnu::always_inline]] constexpr DLDataType ToDLDataType(DType t) {
  return std::bit_cast<DLDataType>(internal_dlpack::InRegister(std::bit_cast<uint32_t>(t)));
}
[[gnu::always_inline]] constexpr DType ToDType(const DLDataType& d) {
  using internal_dlpack::InRegister;
  const uint32_t code = d.code, bits = InRegister(d.bits), lanes = InRegister(d.lanes);
  const bool little = std::endian::native == std::endian::little;
  const uint32_t whole = little ? code | bits << 8 | lanes << 16 : code << 24 | bits << 16 | lanes;
  return std::bit_cast<DType>(InRegister(whole));
}
static_assert(ToDType({kDLInt, 64, 2}) == DType{TypeKind::kInt, 64, 2});
static_assert(ToDType(ToDLDataType(kFloat4E2M1Fn)) == kFloat4E2M1Fn);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_TYPE_TABLE_H_
