#include "dovetail/devices/register_all.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dovetail/core/registry.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/devices/cuda/backend.h"
#include "dovetail/devices/oneapi/backend.h"
#include "dovetail/devices/rocm/backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct Entry {
  std::string_view name;
  absl::Status (*add)(Registry&);
};
constexpr Entry kBackends[] = {{"cpu", &RegisterCpuBackend},
                               {"cuda", &RegisterCudaBackend},
                               {"rocm", &RegisterRocmBackend},
                               {"oneapi", &RegisterOneApiBackend}};

const Entry* Find(std::string_view name) {
  for (const Entry& entry : kBackends) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

void internal_linkage::RegisterAll() {
  static const bool registered = [] {
    bool all = true;
    // The only error is that the program registered a backend of its own before: that one stays.
    for (const Entry& entry : kBackends) all = entry.add(Registry::Shared()).ok() && all;
    return all;
  }();
  static_cast<void>(registered);
}

absl::Status internal_linkage::RegisterNamed(std::string_view names) {
  std::vector<const Entry*> wanted;
  for (std::string_view text : absl::StrSplit(names, ',')) {
    const std::string_view name = absl::StripAsciiWhitespace(text);
    wanted.push_back(Find(name));
    if (wanted.back() == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("There is no backend \"", name,
                                                     "\"; there are cpu, cuda, rocm and oneapi."));
    }
  }
  for (const Entry* entry : wanted) {
    if (absl::Status s = entry->add(Registry::Shared()); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
