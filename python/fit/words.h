// Puts words and numbers together: Words("has size ", 3).

#ifndef DOVETAIL_PYTHON_FIT_WORDS_H_
#define DOVETAIL_PYTHON_FIT_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "dlpack/dlpack.h"
#include "dovetail/core/freestanding/type_names.h"
#include "dovetail/interop/dlpack/parse.h"
#include "dovetail/python/args/arg_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_fit {

// A word or a number of Words(). (No template of strings, which would take seconds to compile.)
struct Piece {
  Piece(const char* words) : text(words) {}                                    // NOLINT
  Piece(const std::string& words) : text(words.data()), size(words.size()) {}  // NOLINT
  Piece(int64_t the_number) : number(the_number) {}                            // NOLINT
  Piece(int32_t the_number) : number(the_number) {}                            // NOLINT

  const char* text = nullptr;  // nullptr: the number
  size_t size = kToItsEnd;
  int64_t number = 0;
  static constexpr size_t kToItsEnd = SIZE_MAX;
};

[[gnu::cold, gnu::noinline]] inline std::string Join(const Piece* pieces, size_t count) {
  std::string text;
  for (const Piece* piece = pieces; piece != pieces + count; ++piece) {
    if (piece->text == nullptr) {
      char digits[24];
      text.append(digits, static_cast<size_t>(
                              std::snprintf(digits, sizeof(digits), "%lld",
                                            static_cast<long long>(piece->number))));  // NOLINT
    } else if (piece->size == Piece::kToItsEnd) {
      text.append(piece->text);
    } else {
      text.append(piece->text, piece->size);
    }
  }
  return text;
}

template <typename... Parts>
std::string Words(const Parts&... parts) {
  const Piece pieces[] = {parts...};
  return Join(pieces, sizeof...(parts));
}

// "(2, 3)", "(2,)"
[[gnu::cold]] inline std::string Tuple(const int64_t* values, int32_t count) {
  std::string text = "(";
  for (int32_t i = 0; i < count; ++i) text += Words(i > 0 ? ", " : "", values[i]);
  return text += count == 1 ? ",)" : ")";
}

// "0x7f12"
[[gnu::cold]] inline std::string Hexadecimal(int64_t number) {
  char text[19];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

// "float32", as DType::ToString() has it.
[[gnu::cold]] inline std::string TypeText(DLDataType dtype) {
  const char* const name = internal_dtype::NameOf(dtype.code, dtype.bits);
  if (name == nullptr) {
    return Words(internal_dtype::KindNameOf(dtype.code), " of ", int32_t{dtype.bits}, " bits x",
                 int32_t{dtype.lanes});
  }
  return dtype.lanes == 1 ? std::string(name) : Words(name, "x", int32_t{dtype.lanes});
}

// "cuda:1", as Device::ToString() has it, and "cuda" of the type alone.
inline std::string DeviceTypeText(int32_t type) {
  switch (type) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case code:                                                             \
    return name;
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
    default:
      return Words("device(", type, ")");
  }
}
[[gnu::cold]] inline std::string DeviceText(DLDevice device) {
  const std::string type = DeviceTypeText(device.device_type);
  const bool is_indexed = internal_dlpack::FactsOf(device.device_type).indexed;
  return is_indexed || device.device_id != 0 ? Words(type, ":", device.device_id) : type;
}

}  // namespace internal_fit
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_FIT_WORDS_H_
