#include "dovetail/devices/gpu/vendor/dynamic_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "dovetail/devices/gpu/vendor/loaded_objects.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// RTLD_LOCAL: another library of the process may export the same names.
constexpr int kOpen = RTLD_NOW | RTLD_LOCAL;

// Keeps the more useful error of dlopen: a file that exists but can't be loaded says more than a
// missing one.
void KeepBest(const char* error, std::string* reason) {
  const bool missing = std::string_view(error).find("No such file") != std::string_view::npos;
  if (reason->empty() || !missing) *reason = error;
}

// Fills the slots from a library. Returns the names of the required functions that it lacks; then
// every slot is nullptr.
std::vector<const char*> FillSlots(void* library, absl::Span<const SymbolSlot> slots) {
  std::vector<const char*> lacking;
  for (const SymbolSlot& slot : slots) {
    *slot.address = dlsym(library, slot.name);
    if (*slot.address == nullptr && slot.need == Need::kRequired) lacking.push_back(slot.name);
  }
  if (!lacking.empty()) {
    for (const SymbolSlot& slot : slots) *slot.address = nullptr;
  }
  return lacking;
}

}  // namespace

bool DynamicLibrary::Load(std::string* reason) {
  if (is_loaded_.load(std::memory_order_acquire)) return true;
  absl::MutexLock lock(&mutex_);
  if (is_loaded_.load(std::memory_order_relaxed)) return true;
  if (CountLoads() != loads_ && Find()) {
    is_loaded_.store(true, std::memory_order_release);
    return true;
  }
  *reason = reason_;
  return false;
}

std::vector<std::string> DynamicLibrary::Files() const {
  std::vector<std::string> files = {file_};
  for (std::string& copy : FindCopies(FileNames())) {
    if (copy != file_) files.push_back(std::move(copy));
  }
  return files;
}

bool DynamicLibrary::Find() {
  const char* chosen = std::getenv(traits_.variable);
  if (chosen != nullptr && *chosen != '\0') {
    const bool found = FindChosen(chosen);
    loads_ = CountLoads();
    return found;
  }
  bool is_there = false;
  bool found = FindLoaded(&is_there) || (!is_there && FindInstalled());
  // Another thread may have loaded a copy meanwhile. Objects that FindInstalled loaded and closed
  // again must not make the next Load search.
  while (!found && CountLoads() != loads_) found = FindLoaded(&is_there);
  return found;
}

bool DynamicLibrary::FindChosen(const char* file) {
  void* library = dlopen(file, kOpen);
  if (library == nullptr) {
    reason_ = WhyNone(
        absl::StrCat(traits_.variable, " names a library that can't be opened: ", dlerror()));
    return false;
  }
  if (Take(library)) return true;
  absl::StrAppend(&reason_, " (", traits_.variable, " names this file)");
  return false;
}

bool DynamicLibrary::FindLoaded(bool* is_there) {
  loads_ = CountLoads();
  std::vector<std::string> files = FileNames();
  std::vector<std::string> copies = FindCopies(files);
  files.insert(files.end(), copies.begin(), copies.end());
  for (const std::string& file : files) {
    void* library = dlopen(file.c_str(), kOpen | RTLD_NOLOAD);
    if (library == nullptr) continue;
    *is_there = true;
    if (Take(library)) return true;
  }
  return false;
}

bool DynamicLibrary::FindInstalled() {
  std::string error;
  for (const std::string& name : FileNames()) {
    if (void* library = dlopen(name.c_str(), kOpen)) return Take(library);
    KeepBest(dlerror(), &error);
  }
  reason_ = WhyNone(absl::StrCat(error, traits_.hint));
  return false;
}

bool DynamicLibrary::Take(void* library) {
  for (const Rejected& rejected : rejected_) {
    if (rejected.library != library) continue;
    dlclose(library);  // one of two references
    reason_ = rejected.reason;
    return false;
  }
  file_ = FileOf(library);
  const std::vector<const char*> lacking = FillSlots(library, FindSlots());
  if (!lacking.empty()) {
    reason_ = WhyNone(absl::StrCat(file_, " lacks ", absl::StrJoin(lacking, ", ")));
  } else if (StartUp(file_, &reason_)) {
    return true;
  }
  rejected_.push_back({library, reason_});
  return false;
}

std::string DynamicLibrary::WhyNone(std::string_view problem) const {
  return absl::StrCat("no ", traits_.product, " that can be used: ", problem);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
