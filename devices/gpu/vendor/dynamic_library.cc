#include "dovetail/devices/gpu/vendor/dynamic_library.h"

#include <dlfcn.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// Keeps the more useful error of dlopen: a file that exists but can't be loaded says more than a
// missing one.
void KeepBest(const char* error, std::string* reason) {
  const bool missing = absl::string_view(error).find("No such file") != absl::string_view::npos;
  if (reason->empty() || !missing) *reason = error;
}

}  // namespace

bool OpenLibrary(absl::Span<const char* const> names, absl::Span<const SymbolSlot> slots,
                 std::string* reason) {
  for (const SymbolSlot& slot : slots) *slot.address = nullptr;
  reason->clear();
  for (const char* name : names) {
    // RTLD_LOCAL: another library of the process may export the same names.
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      KeepBest(dlerror(), reason);
      continue;
    }
    std::vector<const char*> lacking;
    for (const SymbolSlot& slot : slots) {
      *slot.address = dlsym(library, slot.name);
      if (*slot.address == nullptr && slot.need == Need::kRequired) lacking.push_back(slot.name);
    }
    if (lacking.empty()) return true;
    for (const SymbolSlot& slot : slots) *slot.address = nullptr;
    *reason = absl::StrCat(name, " lacks ", absl::StrJoin(lacking, ", "));
    return false;
  }
  return false;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
