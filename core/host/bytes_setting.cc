#include "dovetail/core/host/bytes_setting.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace dovetail::inline DOVETAIL_ABI {

int64_t BytesSetting(const char* name, int64_t unless_set) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const char* text = std::getenv(name);
  int64_t value;
  if (text == nullptr || !absl::SimpleAtoi(text, &value) || value < 0) return unless_set;
  return std::min(value, kMost);
}

}  // namespace dovetail::inline DOVETAIL_ABI
