#include "dovetail/core/internal/bytes_setting.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;

// The factor of a unit, a power of 1024; 0 for an unknown unit.
int64_t FactorOf(std::string_view unit) {
  if (unit.empty() || absl::EqualsIgnoreCase(unit, "B")) return 1;
  constexpr std::string_view kUnits = "KMGT";
  const size_t power = kUnits.find(absl::ascii_toupper(static_cast<unsigned char>(unit[0])));
  const bool is_whole = unit.size() == 1 || absl::EqualsIgnoreCase(unit.substr(1), "iB");
  return is_whole && power != kUnits.npos ? int64_t{1} << 10 * (power + 1) : 0;
}

// "1048576", "1M", "1 MiB"; −1 for anything else.
int64_t ParseBytes(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const int64_t factor = FactorOf(absl::StripAsciiWhitespace(text.substr(digits)));
  int64_t number;
  if (digits == 0 || factor == 0) return -1;
  if (!absl::SimpleAtoi(text.substr(0, digits), &number)) return kMost;  // more than 64 bits
  return number > kMost / factor ? kMost : number * factor;
}

}  // namespace

int64_t BytesSetting(const char* name, int64_t unless_set) {
  const char* value = std::getenv(name);
  const std::string_view text = absl::StripAsciiWhitespace(value == nullptr ? "" : value);
  if (text.empty()) return unless_set;
  const int64_t bytes = ParseBytes(text);
  if (bytes >= 0) return bytes;
  std::fprintf(stderr,
               "dovetail: %s=\"%s\" is ignored: it is not a number of bytes such as 1048576, "
               "1024K or 1MiB. The limit is %lld bytes.\n",
               name, value, static_cast<long long>(unless_set));
  return unless_set;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
