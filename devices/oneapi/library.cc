#include "dovetail/devices/oneapi/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "dovetail/devices/gpu/vendor/dynamic_library.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

constexpr char kFile[] = "libDPCTLSyclInterface.so";

// The library in the package dpctl beside the package of this code; "" if this code's file is not
// known.
std::string BesideThisPackage() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&BesideThisPackage), &info) == 0) return "";
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  if (slash == std::string::npos) return "";
  return absl::StrCat(file.substr(0, slash), "/../dpctl/", kFile);
}

std::vector<std::string> Candidates() {
  const char* named = std::getenv("DOVETAIL_ONEAPI_LIBRARY");
  if (named != nullptr && *named != '\0') return {named};
  std::vector<std::string> names = {kFile};
  if (std::string beside = BesideThisPackage(); !beside.empty()) names.push_back(beside);
  return names;
}

std::vector<SymbolSlot> Slots(SyclSymbols& symbols) {
  return {
#define DOVETAIL_SYCL_SYMBOL(name, need, result, parameters) \
  {#name, reinterpret_cast<void**>(&symbols.name), Need::need},
#include "dovetail/devices/oneapi/symbols.inc"
#undef DOVETAIL_SYCL_SYMBOL
  };
}

}  // namespace

SyclLibrary& SyclLibrary::Get() {
  static SyclLibrary* const library = new SyclLibrary;
  return *library;
}

bool SyclLibrary::Load(std::string* reason) {
  std::call_once(once_, [this] { loaded_ = Open(&reason_); });
  if (!loaded_) *reason = reason_;
  return loaded_;
}

bool SyclLibrary::Open(std::string* reason) {
  const std::vector<std::string> candidates = Candidates();
  std::vector<const char*> names;
  names.reserve(candidates.size());
  for (const std::string& name : candidates) names.push_back(name.c_str());
  std::string problem;
  if (!OpenLibrary(names, Slots(symbols_), &problem)) {
    *reason = absl::StrCat("no SYCL runtime that can be used: ", problem,
                           " (it is part of the package dpctl)");
    return false;
  }
  SyclDeviceVector* found = symbols_.DPCTLDeviceMgr_GetDevices(kSyclAllBackends | kSyclAllDevices);
  const size_t count = found == nullptr ? 0 : symbols_.DPCTLDeviceVector_Size(found);
  for (size_t i = 0; i < count; ++i) {
    SyclDevice* device = symbols_.DPCTLDeviceVector_GetAt(found, i);
    SyclContext* context = symbols_.DPCTLDeviceMgr_GetCachedContext(device);
    SyclQueue* queue = context == nullptr
                           ? nullptr
                           : symbols_.DPCTLQueue_Create(context, device, nullptr, kSyclInOrder);
    if (queue == nullptr) {
      *reason = absl::StrCat("the SYCL runtime makes no queue for its device ", i);
      return false;
    }
    devices_.push_back({device, context, queue});
  }
  if (found != nullptr) symbols_.DPCTLDeviceVector_Delete(found);
  if (!devices_.empty()) return true;
  *reason =
      "the SYCL runtime finds no device (for the CPU's, install intel-opencl-rt and set "
      "OCL_ICD_FILENAMES to its libintelocl.so)";
  return false;
}

int SyclLibrary::IndexOf(const SyclDevice* device) const {
  for (int i = 0; i < device_count(); ++i) {
    if (symbols_.DPCTLDevice_AreEq(device, devices_[i].device)) return i;
  }
  return -1;
}

SyclQueue* SyclLibrary::NewQueue(int index) const {
  return symbols_.DPCTLQueue_Create(devices_[index].context, devices_[index].device, nullptr,
                                    kSyclInOrder);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
