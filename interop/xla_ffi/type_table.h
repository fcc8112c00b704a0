// Converts between xla::ffi::DataType and DType. One table serves both directions.
//
//   DType dtype = FromXlaDataType(xla::ffi::BF16);        // kBFloat16; ask dtype.is_known()
//   std::optional<xla::ffi::DataType> type = ToXlaDataType(kFloat8E4M3Fn);
//
// XLA packs elements of fewer than 8 bits, lowest bits first, as Packing::kPacked does. (Its
// headers count a byte for each in ByteWidth and size_bytes.) PRED is bool, C64 is complex64.

#ifndef DOVETAIL_INTEROP_XLA_FFI_TYPE_TABLE_H_
#define DOVETAIL_INTEROP_XLA_FFI_TYPE_TABLE_H_

#include <array>
#include <cstdint>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/pair_table.h"
#include "xla/ffi/api/ffi.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_xla_ffi {

struct TypePair {
  xla::ffi::DataType xla;
  DType core;
};

// All of XLA's types but INVALID, TOKEN (no memory), S1 and U1 (no type of ours).
DOVETAIL_NOT_SHARED inline constexpr TypePair kTypes[] = {
#define DOVETAIL_XLA_TYPE(name, code, dtype) {xla::ffi::name, dtype},
#include "dovetail/interop/xla_ffi/type_list.inc"
#undef DOVETAIL_XLA_TYPE
};

static_assert(internal_interop::IsBijection(kTypes, &TypePair::xla, &TypePair::core));
#define DOVETAIL_XLA_TYPE(name, code, dtype) \
  static_assert(static_cast<int>(xla::ffi::name) == code);
#include "dovetail/interop/xla_ffi/type_list.inc"
#undef DOVETAIL_XLA_TYPE

DOVETAIL_NOT_SHARED inline constexpr DType kNoType = {TypeKind::kFloat, 0, 1};
static_assert(!kNoType.is_known());

constexpr std::array<DType, 256> TypesByCode() {
  std::array<DType, 256> types;
  types.fill(kNoType);
  for (const TypePair& pair : kTypes) types[static_cast<uint8_t>(pair.xla)] = pair.core;
  return types;
}
DOVETAIL_NOT_SHARED inline constexpr std::array<DType, 256> kTypesByCode = TypesByCode();

}  // namespace internal_xla_ffi

// A DType that is not known if Dovetail has no such type.
constexpr DType FromXlaDataType(xla::ffi::DataType type) {
  return internal_xla_ffi::kTypesByCode[static_cast<uint8_t>(type)];
}

constexpr std::optional<xla::ffi::DataType> ToXlaDataType(DType dtype) {
  using internal_xla_ffi::TypePair;
  return internal_interop::Find(internal_xla_ffi::kTypes, &TypePair::core, dtype, &TypePair::xla);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_XLA_FFI_TYPE_TABLE_H_
