// VendorTraits: the differences between GPU vendors that users of Dovetail see: names, device
// types, and the meaning of the stream codes of `__dlpack__(stream=)`.
//
//   kRocmTraits.stream_codes.Meaning(1)        // StreamMeaning::kRefused
//
// Source of the codes: the array API standard, array.__dlpack__.

#ifndef DOVETAIL_DEVICES_GPU_RUNTIME_VENDOR_TRAITS_H_
#define DOVETAIL_DEVICES_GPU_RUNTIME_VENDOR_TRAITS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "dovetail/core/config.h"
#include "dovetail/core/device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

enum class StreamMeaning : uint8_t {
  kRefused,    // the standard disallows the code
  kNoSync,     // the consumer wants no synchronisation
  kLegacy,     // the legacy default stream
  kPerThread,  // the per-thread default stream
  kHandle,     // the code is a stream's address
  kHostWaits,  // the consumer's stream is unknown: the host waits for the work
};

struct StreamCodes {
  StreamMeaning none;  // Python's None
  StreamMeaning zero, one, two;
  std::optional<int64_t> legacy;      // code of the legacy stream; nullopt: None, or its address
                                      // (RuntimeApi::default_stream)
  std::optional<int64_t> per_thread;  // code of the per-thread stream; nullopt: it has none

  constexpr StreamMeaning Meaning(std::optional<int64_t> code) const {
    if (!code.has_value()) return none;
    switch (*code) {
      case -1:
        return StreamMeaning::kNoSync;
      case 0:
        return zero;
      case 1:
        return one;
      case 2:
        return two;
      default:
        return *code > 2 ? StreamMeaning::kHandle : StreamMeaning::kRefused;
    }
  }
};

struct VendorTraits {
  std::string_view name;              // of the backend: "cuda"
  std::string_view product;           // as people write it: "CUDA"
  DeviceType device;                  // the device's own memory
  DeviceType pinned;                  // host memory that the device can access; may be `device`
  std::optional<DeviceType> managed;  // nullopt: managed memory is `device`
  StreamCodes stream_codes;
  // The caching allocators are the default: freeing memory waits for unrelated work.
  bool caches_by_default = false;
  // The most threads of a launch, all its blocks together.
  uint64_t max_launch_threads = UINT64_MAX;
};

// Rules 46 and 47 of docs/protocol.md.
DOVETAIL_NOT_SHARED inline constexpr VendorTraits kCudaTraits = {
    .name = "cuda",
    .product = "CUDA",
    .device = DeviceType::kCuda,
    .pinned = DeviceType::kCudaHost,
    .managed = DeviceType::kCudaManaged,
    .stream_codes = {.none = StreamMeaning::kLegacy,
                     .zero = StreamMeaning::kRefused,
                     .one = StreamMeaning::kLegacy,
                     .two = StreamMeaning::kPerThread,
                     .legacy = 1,
                     .per_thread = 2},
};
DOVETAIL_NOT_SHARED inline constexpr VendorTraits kRocmTraits = {
    .name = "rocm",
    .product = "ROCm",
    .device = DeviceType::kRocm,
    .pinned = DeviceType::kRocmHost,
    .managed = std::nullopt,
    .stream_codes = {.none = StreamMeaning::kLegacy,
                     .zero = StreamMeaning::kLegacy,
                     .one = StreamMeaning::kRefused,
                     .two = StreamMeaning::kRefused,
                     .legacy = 0,
                     .per_thread = std::nullopt},
    .max_launch_threads = UINT32_MAX,  // a dispatch packet of HSA counts threads in 32 bits
};

// DLPack's consumers on SYCL pass a queue or nothing. Producers and consumers take the address of a
// sycl::queue as its code here; in Python they take a dpctl.SyclQueue. USM of all kinds is memory
// of its device.
DOVETAIL_NOT_SHARED inline constexpr VendorTraits kOneApiTraits = {
    .name = "oneapi",
    .product = "oneAPI",
    .device = DeviceType::kOneApi,
    .pinned = DeviceType::kOneApi,
    .managed = std::nullopt,
    .stream_codes = {.none = StreamMeaning::kHostWaits,
                     .zero = StreamMeaning::kRefused,
                     .one = StreamMeaning::kRefused,
                     .two = StreamMeaning::kRefused,
                     .legacy = std::nullopt,
                     .per_thread = std::nullopt},
    .caches_by_default = true,
};

// Whether each code that Encode gives is decoded to the same stream.
constexpr bool NamesItself(const StreamCodes& codes) {
  return codes.Meaning(codes.legacy) == StreamMeaning::kLegacy &&
         (!codes.per_thread || codes.Meaning(codes.per_thread) == StreamMeaning::kPerThread);
}
static_assert(NamesItself(kCudaTraits.stream_codes) && NamesItself(kRocmTraits.stream_codes));

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_RUNTIME_VENDOR_TRAITS_H_
