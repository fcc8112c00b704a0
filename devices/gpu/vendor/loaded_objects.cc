#include "dovetail/devices/gpu/vendor/loaded_objects.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

constexpr std::string_view kSuffix = ".so";

std::string_view BaseName(std::string_view file) {
  return file.substr(file.rfind('/') + 1);  // npos + 1 is 0
}

// Removes "-1a2b3c4d".
void ConsumeHash(std::string_view* rest) {
  if (!absl::ConsumePrefix(rest, "-")) return;
  while (!rest->empty() && absl::ascii_isxdigit(static_cast<unsigned char>(rest->front()))) {
    rest->remove_prefix(1);
  }
}

}  // namespace

uint64_t CountLoads() {
  uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* counted) {
        *static_cast<uint64_t*>(counted) = info->dlpi_adds;
        return 1;  // the first object's will do: all have the same number
      },
      &count);
  return count;
}

bool IsCopyOf(std::string_view file, std::string_view name) {
  const std::string_view base = BaseName(name);
  std::string_view rest = BaseName(file);
  if (!absl::ConsumePrefix(&rest, base.substr(0, base.find(kSuffix)))) return false;
  ConsumeHash(&rest);
  return absl::ConsumePrefix(&rest, kSuffix) && (rest.empty() || rest.front() == '.');
}

std::vector<std::string> FindCopies(absl::Span<const std::string> names) {
  struct Search {
    absl::Span<const std::string> names;
    std::vector<std::string> found;
  };
  Search search = {names, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& search = *static_cast<Search*>(data);
        const std::string_view file = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (std::any_of(search.names.begin(), search.names.end(),
                        [&](const std::string& name) { return IsCopyOf(file, name); })) {
          search.found.emplace_back(file);
        }
        return 0;
      },
      &search);
  return search.found;
}

std::string FileOf(void* library) {
  link_map* map = nullptr;
  void* const found = static_cast<void*>(&map);
  if (dlinfo(library, RTLD_DI_LINKMAP, found) != 0 || map->l_name == nullptr) return "";
  return map->l_name;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
