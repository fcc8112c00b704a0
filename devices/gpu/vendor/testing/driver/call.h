// Call: one call of a driver's C function, which is logged and forwarded to RuntimeApi.
//
//   CUresult cuMemFree_v2(CUdeviceptr address) {
//     return CudaCall("cuMemFree_v2", address).On(&RuntimeApi::free_device, PointerOf(address));
//   }
//
// `Vendor` has Error, the vendor's type of results; kInvalidValue, kNotSupported and kNoImage;
// Ready(), success or why no call is possible; GetDevice(&device), the device that is current on
// this thread by the vendor's rule; and Returned(error), which sees each result before the caller
// does.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_CALL_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_CALL_H_

#include <cstdint>

#include "dovetail/devices/gpu/vendor/testing/driver/backing.h"
#include "dovetail/devices/gpu/vendor/testing/fake_log.h"

namespace vendor_driver {

// A pool's handle: 0x901 is device 1's, 0x9ff another library's.
template <typename Pool>
Pool PoolHandle(int device) {
  return device == kNoPool ? nullptr : reinterpret_cast<Pool>(uintptr_t{0x900} + device);
}
template <typename Pool>
int DeviceOfPool(Pool pool) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(pool) - 0x900);
}

inline int PoolOf(const void* ptr) {
  const Backing& backing = GetBacking();
  return backing.pool_of != nullptr ? backing.pool_of(ptr) : kNoPool;
}

// The vendor's number of a result of the backing's RuntimeApi.
template <typename Error>
Error CodeOf(Result result) {
  const auto code = GetBacking().code;
  return static_cast<Error>(code != nullptr ? code(result) : result);
}

template <typename Vendor>
class Call {
 public:
  using Error = typename Vendor::Error;

  // A question that no test counts: it is not logged.
  Call() = default;
  // `args` are for the log. The call fails if the test said so (FakeLibrary::Fail).
  template <typename... Args>
  explicit Call(const char* name, const Args&... args) {
    if (GetBacking().logs) failure_ = dovetail_fake::Fake<Error>(name, args...);
  }

  // Calls function(api), whose result is an Error. Without a current device.
  template <typename Function>
  Error Do(Function function) const {
    Error error = failure_;
    if (error == Error{}) error = Vendor::Ready();
    if (error == Error{}) error = function(*GetBacking().api);
    return Vendor::Returned(error);
  }
  // The same for a function of RuntimeApi.
  template <typename Function, typename... Args>
  Error Ask(Function RuntimeApi::* function, Args... args) const {
    return Do([&](const RuntimeApi& api) { return Forwarded(api, function, args...); });
  }

  // Calls function(api, device) with the thread's device current.
  template <typename Function>
  Error DoOnDevice(Function function) const {
    return Do([&](const RuntimeApi& api) {
      int device = 0;
      Error error = Vendor::GetDevice(&device);
      if (error != Error{}) return error;
      void* previous = nullptr;
      error = Forwarded(api, &RuntimeApi::push_device, device, &previous);
      if (error != Error{}) return error;
      error = function(api, device);
      api.pop_device(api.self, previous);
      return error;
    });
  }
  template <typename Function, typename... Args>
  Error On(Function RuntimeApi::* function, Args... args) const {
    return DoOnDevice(
        [&](const RuntimeApi& api, int) { return Forwarded(api, function, args...); });
  }
  // The same for a function whose last parameter is where to put a pointer. Writes it to `*made`.
  template <typename Made, typename Function, typename... Args>
  Error Make(Made* made, Function RuntimeApi::* function, Args... args) const {
    void* pointer = nullptr;
    const Error error = On(function, args..., &pointer);
    if (error == Error{}) *made = reinterpret_cast<Made>(pointer);
    return error;
  }

 private:
  template <typename Function, typename... Args>
  static Error Forwarded(const RuntimeApi& api, Function RuntimeApi::* function, Args... args) {
    if (api.*function == nullptr) return Vendor::kNotSupported;
    return CodeOf<Error>((api.*function)(api.self, args...));
  }

  Error failure_{};
};

}  // namespace vendor_driver

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_CALL_H_
