#include "dovetail/core/freestanding/testing/float_reference.h"

#include <cstdlib>
#include <optional>

#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/float_format.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

FloatFormat FormatOf(uint8_t code, int bits) {
  const DType dtype{static_cast<TypeKind>(code), static_cast<uint8_t>(bits), 1};
  const std::optional<FloatFormat> format = FloatFormatOf(dtype);
  if (!format.has_value()) std::abort();
  return *format;
}

}  // namespace

uint64_t EncodeReference(uint8_t code, int bits, double value) {
  return EncodeFloat(FormatOf(code, bits), value);
}

double DecodeReference(uint8_t code, int bits, uint64_t element) {
  return DecodeFloat(FormatOf(code, bits), element);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
