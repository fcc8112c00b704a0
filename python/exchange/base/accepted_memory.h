// AcceptedMemory: the memory that a library takes without a copy.
//
//   if (const char* reason = WhyRefused(peer->accepts, tensor)) …   // "is read-only, which …"
//
// Any thread.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_ACCEPTED_MEMORY_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_ACCEPTED_MEMORY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/find_misfit.h"

namespace dovetail::python {

// Read-only memory that a library takes without a copy.
enum class ReadOnlyMemory {
  kNone,  // the library would write to it
  kCpu,   // only on the CPU
  kAny,
};

struct AcceptedMemory {
  ReadOnlyMemory read_only = ReadOnlyMemory::kNone;
  bool negative_strides = false;
  bool strides = false;    // strides with gaps or not in row-major order
  uint32_t alignment = 1;  // of element 0, in bytes

  constexpr bool TakesAccess(Access access, DeviceType device) const {
    return access == Access::kReadWrite || read_only == ReadOnlyMemory::kAny ||
           (read_only == ReadOnlyMemory::kCpu && device == DeviceType::kCpu);
  }
  bool TakesSigns(absl::Span<const int64_t> strides) const {
    return negative_strides ||
           !internal_interop::HasNegative(static_cast<int32_t>(strides.size()), strides.data());
  }
};

inline constexpr AcceptedMemory kEveryMemory = {ReadOnlyMemory::kAny, true, true, 1};

// Why the library does not take the tensor without a copy, to follow "the tensor"; nullptr if it
// does.
const char* WhyRefused(const AcceptedMemory& accepts, const Tensor& tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_ACCEPTED_MEMORY_H_
