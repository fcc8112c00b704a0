#include "dovetail/core/device.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct Entry {
  DeviceType type;
  std::string_view name;
};

constexpr Entry kEntries[] = {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) {DeviceType::id, name},
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
};

constexpr std::string_view kUnlistedPrefix = "device(";

// Parses the name of a device type: a listed one, or "device(N)".
bool ParseType(std::string_view name, DeviceType* type) {
  for (const Entry& e : kEntries) {
    if (e.name == name) {
      *type = e.type;
      return true;
    }
  }
  int32_t code;
  if (!absl::StartsWith(name, kUnlistedPrefix) || !absl::EndsWith(name, ")")) return false;
  name.remove_prefix(kUnlistedPrefix.size());
  name.remove_suffix(1);
  // SimpleAtoi also accepts blanks, a plus sign and leading zeros, which DeviceTypeName never
  // writes.
  if (!absl::SimpleAtoi(name, &code) || absl::StrCat(code) != name) return false;
  *type = static_cast<DeviceType>(code);
  return true;
}

}  // namespace

std::string DeviceTypeName(DeviceType type) {
  for (const Entry& e : kEntries) {
    if (e.type == type) return std::string(e.name);
  }
  return absl::StrCat(kUnlistedPrefix, static_cast<int32_t>(type), ")");
}

absl::StatusOr<Device> Device::Parse(std::string_view text) {
  std::string_view name = text.substr(0, text.find(':'));
  Device device;
  bool ok = ParseType(name, &device.type);
  if (ok && name.size() < text.size()) {
    std::string_view digits = text.substr(name.size() + 1);
    ok = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos &&
         absl::SimpleAtoi(digits, &device.index);
  }
  if (ok) return device;
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text,
      "\" is no device; expected a type, with an index if the type has several devices, as in "
      "\"cuda:0\". Types: ",
      absl::StrJoin(kEntries, ", ",
                    [](std::string* out, const Entry& e) { absl::StrAppend(out, e.name); }),
      "."));
}

std::string Device::ToString() const {
  if (!IsIndexed(type) && index == 0) return DeviceTypeName(type);
  return absl::StrCat(DeviceTypeName(type), ":", index);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
