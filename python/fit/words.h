// Puts words and numbers together: Words("has size ", 3).

#ifndef DOVETAIL_PYTHON_FIT_WORDS_H_
#define DOVETAIL_PYTHON_FIT_WORDS_H_

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

inline void AppendTo(std::string* text, const char* words) { text->append(words); }
inline void AppendTo(std::string* text, const std::string& words) { text->append(words); }
inline void AppendTo(std::string* text, int64_t number) { text->append(std::to_string(number)); }
inline void AppendTo(std::string* text, int32_t number) { text->append(std::to_string(number)); }

template <typename... Parts>
std::string Words(const Parts&... parts) {
  std::string text;
  (AppendTo(&text, parts), ...);
  return text;
}

// "(2, 3)", "(2,)"
inline std::string Tuple(const int64_t* values, int32_t count) {
  std::string text = "(";
  for (int32_t i = 0; i < count; ++i) {
    if (i > 0) text.append(", ");
    AppendTo(&text, values[i]);
  }
  return text.append(count == 1 ? ",)" : ")");
}

// "0x7f12"
inline std::string Hexadecimal(int64_t number) {
  char text[19];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

// "float32", as DType::ToString() has it.
inline std::string TypeText(DLDataType dtype) {
  const char* const name = internal_dtype::NameOf(dtype.code, dtype.bits);
  if (name == nullptr) {
    return Words(internal_dtype::KindNameOf(dtype.code), " of ", int32_t{dtype.bits}, " bits x",
                 int32_t{dtype.lanes});
  }
  return dtype.lanes == 1 ? std::string(name) : Words(name, "x", int32_t{dtype.lanes});
}

// "cuda:1", as Device::ToString() has it, and "cuda" of the type alone.
inline const char* DeviceTypeText(int32_t type) {
  switch (type) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case code:                                                             \
    return name;
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
    default:
      return "an unknown device";
  }
}
inline std::string DeviceText(DLDevice device) {
  const char* const type = DeviceTypeText(device.device_type);
  const bool is_indexed = internal_dlpack::FactsOf(device.device_type).indexed;
  return is_indexed || device.device_id != 0 ? Words(type, ":", device.device_id) : type;
}

}  // namespace internal_fit
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_FIT_WORDS_H_
