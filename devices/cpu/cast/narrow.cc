#include "dovetail/devices/cpu/cast/narrow.h"

#include <cstdint>
#include <optional>

#include "dovetail/core/internal/float_format.h"
#include "dovetail/devices/cpu/cast/format.h"
#include "dovetail/devices/cpu/cast/x86.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

bool IsNarrowFloat(DType dtype) {
  return dtype.lanes == 1 && dtype.bits <= 16 && FloatFormatOf(dtype).has_value();
}

bool IsNarrowInteger(DType dtype) {
  return dtype.lanes == 1 && dtype.bits < 8 &&
         (dtype.kind == TypeKind::kInt || dtype.kind == TypeKind::kUInt);
}

// The low bits of a byte as a signed or unsigned integer.
template <typename Byte, int kBits>
struct ExtendOp {
  using In = uint8_t;
  using Out = Byte;
  static Byte Do(uint8_t x) {
    return static_cast<Byte>(static_cast<Byte>(x << (8 - kBits)) >> (8 - kBits));
  }
};

// The low bits, with the upper bits cleared, as in a padded element.
template <int kBits>
struct MaskOp {
  using In = uint8_t;
  using Out = uint8_t;
  static uint8_t Do(uint8_t x) { return x & ((1 << kBits) - 1); }
};

template <DType narrow>
CastStep DecodeStep(SimdLevel level) {
  if constexpr (narrow.bits > 16) {
    return nullptr;
  } else {
    return StepAt<DecodeOp<*FloatFormatOf(narrow)>, /*kWide=*/false>(level);
  }
}

template <DType narrow>
CastStep EncodeStep(SimdLevel level) {
  if constexpr (narrow.bits > 16) {
    return nullptr;
  } else {
    return StepAt<EncodeOp<*FloatFormatOf(narrow)>>(level);
  }
}

}  // namespace

DType WideTypeOf(DType dtype) {
  if (IsNarrowFloat(dtype)) return kFloat32;
  if (IsNarrowInteger(dtype)) return {dtype.kind, 8, 1};
  return dtype;
}

CastStep WidenStep(DType narrow, SimdLevel level) {
  if (CastStep step = X86WidenStep(narrow, level)) return step;
  if (IsNarrowInteger(narrow)) {
    const bool is_signed = narrow.kind == TypeKind::kInt;
    if (narrow.bits == 4) {
      return is_signed ? StepAt<ExtendOp<int8_t, 4>, false>(level)
                       : StepAt<ExtendOp<uint8_t, 4>, false>(level);
    }
    return is_signed ? StepAt<ExtendOp<int8_t, 2>, false>(level)
                     : StepAt<ExtendOp<uint8_t, 2>, false>(level);
  }
#define DOVETAIL_FLOAT_FORMAT(kind, bits, ...)            \
  constexpr DType k##kind##bits{TypeKind::kind, bits, 1}; \
  if (narrow == k##kind##bits) return DecodeStep<k##kind##bits>(level);
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_FLOAT_FORMAT
  return nullptr;
}

CastStep NarrowStep(DType narrow, SimdLevel level) {
  if (CastStep step = X86NarrowStep(narrow, level)) return step;
  if (IsNarrowInteger(narrow)) {
    return narrow.bits == 4 ? StepAt<MaskOp<4>, false>(level) : StepAt<MaskOp<2>, false>(level);
  }
#define DOVETAIL_FLOAT_FORMAT(kind, bits, ...)            \
  constexpr DType k##kind##bits{TypeKind::kind, bits, 1}; \
  if (narrow == k##kind##bits) return EncodeStep<k##kind##bits>(level);
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_FLOAT_FORMAT
  return nullptr;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
