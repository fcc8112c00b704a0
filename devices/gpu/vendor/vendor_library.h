// VendorLibrary: a GPU vendor's library, opened at first use (dynamic_library.h says which copy),
// and what this process keeps of it.
//
//   class CudaDriver final : public VendorLibrary<CudaVendor> { ... };
//   std::string reason;
//   if (driver.Load(&reason)) driver.Call(&CudaSymbols::cuCtxSynchronize);
//
// `Vendor` is a struct of the vendor's names (devices/cuda/cuda_vendor.h is the model):
//   Symbols, Code                   the table of functions; the type of error numbers
//   Checked(symbols, code)          what is done after each call; returns the code as a Result
//   kLibraries                      file names, the preferred one first
//   kVariable                       the environment variable that chooses the file
//   kLibrary, kPlatform             for errors: "NVIDIA driver", "CUDA"
//   Pool, PoolProperties, kPool...  of stream-ordered memory pools
//
// A library that was opened stays open as long as the process. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_VENDOR_LIBRARY_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_VENDOR_LIBRARY_H_

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/vendor/dynamic_library.h"
#include "dovetail/devices/gpu/vendor/per_device.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

template <typename Vendor>
class VendorLibrary : public DynamicLibrary {
 public:
  using Symbols = typename Vendor::Symbols;
  using Pool = typename Vendor::Pool;

  // Load fails if there is no library, it is too old, or it finds no device. The rest needs a
  // successful Load.

  const Symbols& symbols() const { return symbols_; }
  int device_count() const { return device_count_; }
  int version() const { return version_; }                // of the runtime, as the vendor counts
  int driver_version() const { return driver_version_; }  // of the kernel's driver

  // Calls a function of the library: Call(&HipSymbols::hipFree, ptr). kCodeNotSupported if the
  // library lacks it.
  template <typename Function, typename... Args>
  Result Call(Function Symbols::* symbol, Args... args) const {
    const Function function = symbols_.*symbol;
    if (function == nullptr) return kCodeNotSupported;
    return Vendor::Checked(symbols_, function(args...));
  }

  // An attribute of a device; 0 if the device has no such attribute.
  template <typename Attribute>
  int GetAttribute(int device, Attribute attribute) const {
    int value = 0;
    return Call(Vendor::kDeviceGetAttribute, &value, attribute, device) == kCodeSuccess ? value : 0;
  }

  // Whether the library and the device have stream-ordered memory pools.
  bool HasPools(int device) const {
    return symbols_.*Vendor::kPoolMalloc != nullptr && symbols_.*Vendor::kPoolFree != nullptr &&
           symbols_.*Vendor::kPoolCreate != nullptr && symbols_.*Vendor::kPoolTrim != nullptr &&
           symbols_.*Vendor::kPoolSetAttribute != nullptr &&
           symbols_.*Vendor::kPoolGetAttribute != nullptr &&
           symbols_.*Vendor::kPoolSetAccess != nullptr &&
           GetAttribute(device, Vendor::kAttributePoolsSupported) != 0;
  }

  // The device's pool, made at the first call. kCodeNotSupported without pools.
  Result GetPool(int device, Pool* pool) {
    return pools_.Get(device, pool, [&](Pool* made) -> Result {
      if (!HasPools(device)) return kCodeNotSupported;
      typename Vendor::PoolProperties properties = {};
      properties.allocType = Vendor::kPoolPinned;
      properties.handleTypes = Vendor::kPoolNoHandle;
      properties.location.type = Vendor::kPoolOnDevice;
      properties.location.id = device;
      return Call(Vendor::kPoolCreate, made, &properties);
    });
  }

  // "NAME: text" of an error; lives as long as the process.
  const char* Describe(Result result) {
    const char* name = nullptr;
    const char* text = nullptr;
    GetErrorTexts(result, &name, &text);
    return texts_.Get(result, name, text);
  }

 protected:
  VendorLibrary() : DynamicLibrary({Vendor::kLibrary, Vendor::kVariable}) {}
  ~VendorLibrary() = default;

  // Where each function's address goes in `symbols`.
  virtual std::vector<SymbolSlot> Slots(Symbols& symbols) const = 0;
  // Sets the versions, as the vendor counts them; 0 if unknown.
  virtual void GetVersions(int* version, int* driver_version) const = 0;
  // A version that is too old: why, for people. "" if it will do.
  virtual std::string WhyTooOld(int version) const = 0;
  virtual std::string VersionText(int version) const = 0;  // "12.4"
  // Initialises the library and counts its devices.
  virtual Result Start(int* device_count) = 0;
  virtual void GetErrorTexts(Result result, const char** name, const char** text) const = 0;

 private:
  std::vector<std::string> FileNames() const final {
    return {std::begin(Vendor::kLibraries), std::end(Vendor::kLibraries)};
  }
  std::vector<SymbolSlot> FindSlots() final { return Slots(symbols_); }

  bool StartUp(const std::string& file, std::string* reason) final {
    GetVersions(&version_, &driver_version_);
    if (const std::string problem = WhyTooOld(version_); !problem.empty()) {
      *reason = absl::StrCat("the ", Vendor::kLibrary, " (", file, ") is too old: ", problem);
      return false;
    }
    Result result = Start(&device_count_);
    if (result == kCodeSuccess && device_count_ == 0) result = kCodeNoDevice;
    if (result != kCodeSuccess) {
      *reason =
          absl::StrCat("the ", Vendor::kLibrary, " (", Vendor::kPlatform, " ",
                       VersionText(version_), ", ", file, ") offers no device: ", Describe(result));
      return false;
    }
    pools_.SetCount(device_count_);
    return true;
  }

  Symbols symbols_ = {};
  int version_ = 0;
  int driver_version_ = 0;
  int device_count_ = 0;
  PerDevice<Pool> pools_;
  ResultTexts texts_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_VENDOR_LIBRARY_H_
