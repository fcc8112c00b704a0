// SyclLibrary: dpctl's C interface to SYCL (libDPCTLSyclInterface.so), opened at first use, with
// SYCL's root devices, their default contexts, and one default queue for each.
//
//   SyclLibrary& sycl = SyclLibrary::Get();
//   std::string reason;
//   if (sycl.Load(&reason)) sycl->DPCTLQueue_Wait(sycl.default_queue(0));
//
// The library is looked for as dynamic_library.h says; the loader's path comes before the package
// dpctl beside the package that this code is in (in a Python environment, site-packages).
//
// Why dpctl's interface: tensors share SYCL's default contexts with dpctl, dpnp and others in the
// process, and only the C++ runtime (libsycl) gives those out. Its own interface is C++ and changes
// with each major version. OpenCL, Level Zero and Unified Runtime have C interfaces, but would make
// contexts of their own, whose memory those libraries can't use. Any thread.

#ifndef DOVETAIL_DEVICES_ONEAPI_LIBRARY_H_
#define DOVETAIL_DEVICES_ONEAPI_LIBRARY_H_

#include <string>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/vendor/dynamic_library.h"
#include "dovetail/devices/oneapi/sycl_types.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class SyclLibrary final : public DynamicLibrary {
 public:
  // The one of this process; opens nothing, never destroyed.
  static SyclLibrary& Get();

  // Load fails if there is no library or it finds no device. The rest needs a successful Load.

  const SyclSymbols* operator->() const { return &symbols_; }
  int device_count() const { return static_cast<int>(devices_.size()); }
  bool Has(int device) const { return device >= 0 && device < device_count(); }
  const SyclDevice* device(int index) const { return devices_[index].device; }
  const SyclContext* context(int index) const { return devices_[index].context; }
  // In order, on the device's default context.
  SyclQueue* default_queue(int index) const { return devices_[index].queue; }
  // The number of a root device; -1 for other devices.
  int IndexOf(const SyclDevice* device) const;
  // A new queue like the default one; nullptr if SYCL refuses.
  SyclQueue* NewQueue(int index) const;

 private:
  struct Root {
    SyclDevice* device;
    SyclContext* context;
    SyclQueue* queue;
  };

  SyclLibrary();

  std::vector<std::string> FileNames() const override;
  std::vector<SymbolSlot> FindSlots() override;
  bool StartUp(const std::string& file, std::string* reason) override;

  SyclSymbols symbols_;
  std::vector<Root> devices_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_LIBRARY_H_
