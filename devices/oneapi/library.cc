#include "dovetail/devices/oneapi/library.h"

#include <dlfcn.h>

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

}  // namespace

SyclLibrary::SyclLibrary()
    : DynamicLibrary(
          {"SYCL runtime", "DOVETAIL_ONEAPI_LIBRARY", " (it is part of the package dpctl)"}) {}

SyclLibrary& SyclLibrary::Get() {
  static SyclLibrary* const library = new SyclLibrary;
  return *library;
}

std::vector<std::string> SyclLibrary::FileNames() const {
  std::vector<std::string> names = {kFile};
  if (std::string beside = BesideThisPackage(); !beside.empty()) names.push_back(beside);
  return names;
}

std::vector<SymbolSlot> SyclLibrary::FindSlots() {
  return {
#define DOVETAIL_SYCL_SYMBOL(name, need, result, parameters) \
  {#name, reinterpret_cast<void**>(&symbols_.name), Need::need},
#include "dovetail/devices/oneapi/symbols.inc"
#undef DOVETAIL_SYCL_SYMBOL
  };
}

bool SyclLibrary::StartUp(const std::string& file, std::string* reason) {
  devices_.clear();
  SyclDeviceVector* found = symbols_.DPCTLDeviceMgr_GetDevices(kSyclAllBackends | kSyclAllDevices);
  const size_t count = found == nullptr ? 0 : symbols_.DPCTLDeviceVector_Size(found);
  for (size_t i = 0; i < count; ++i) {
    SyclDevice* device = symbols_.DPCTLDeviceVector_GetAt(found, i);
    SyclContext* context = symbols_.DPCTLDeviceMgr_GetCachedContext(device);
    SyclQueue* queue = context == nullptr
                           ? nullptr
                           : symbols_.DPCTLQueue_Create(context, device, nullptr, kSyclInOrder);
    if (queue == nullptr) {
      *reason = absl::StrCat("the SYCL runtime (", file, ") makes no queue for its device ", i);
      return false;
    }
    devices_.push_back({device, context, queue});
  }
  if (found != nullptr) symbols_.DPCTLDeviceVector_Delete(found);
  if (!devices_.empty()) return true;
  *reason = absl::StrCat("the SYCL runtime (", file,
                         ") finds no device (for the CPU's, install intel-opencl-rt and set "
                         "OCL_ICD_FILENAMES to its libintelocl.so)");
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
