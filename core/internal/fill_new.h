// Fills of new memory, where it is: without a copy from the host if it is a device's.
//
//   absl::StatusOr<Tensor> t = Tensor::Empty(shape, kInt4, Device::Cuda(0));
//   absl::Status s = FillNew(*t, nullptr);        // zeros
//
// The tensors are contiguous and have all of their storage: bits that are no element's may be
// written, too. On a device, the work is ordered on its current stream. Any thread.

#ifndef DOVETAIL_CORE_INTERNAL_FILL_NEW_H_
#define DOVETAIL_CORE_INTERNAL_FILL_NEW_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/progression.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Sets every element to the one at `element`, in memory of the host, which is read during the call;
// nullptr stands for zeros. Errors are those of Fill (core/copy.h).
absl::Status FillNew(Tensor& dst, const void* element);

// Sets element i to number i of the progression, as a cast does. Unimplemented, before anything is
// written, for memory of the host, and if the device's backend lacks it (DeviceBackend::Arange).
absl::Status FillNew(Tensor& dst, const Progression& numbers);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_FILL_NEW_H_
