// Copies of elements: into a tensor, to a device, into a dense tensor, to another type; and fills.
//
//   absl::Status s = Copy(dst, src);                       // broadcasts src to dst's shape
//   absl::Status t = CopyCast(dst, src);                   // the same for different types
//   absl::StatusOr<Tensor> y = CopyTo(x, Device::Cuda(0)); // always new memory
//   absl::StatusOr<Tensor> h = CopyAs(x, {.dtype = kFloat16, .order = MemoryOrder::kK});
//   absl::StatusOr<Tensor> z = Contiguous(x);              // x itself when it is dense already
//
// The backend of whichever side is not the CPU does the work, ordered on the stream given, after
// all work on the two so far. Without a stream it is ordered on the current one; where the host can
// reach either side, it is then done when the call returns. A null tensor on either side is
// FailedPrecondition.
//
// What casts do, for every pair of types but those below:
//   to bool                  anything but 0 is true, NaN too
//   integer to integer       the low bits
//   float to integer         without the fraction. What is out of range or no number is no error,
//                            and becomes what x86's instructions make of it
//                            (devices/cpu/cast/native.h tells exactly), as in NumPy and PyTorch on
//                            such a machine
//   anything to float        to nearest, ties to even. What is too large becomes what the format
//                            has for it (float_format.h): an infinity in float16, bfloat16,
//                            float8_e5m2 and the other IEEE formats, NaN in float8_e4m3fn and the
//                            fnuz formats, the largest number where there is no NaN either. NaN
//                            stays NaN, with its sign where there is one. Integers, and float64 but
//                            for float16, reach a format of 16 bits or less by way of float32: two
//                            roundings
//   real to complex          with an imaginary part of 0
// These are the rules of NumPy and ml_dtypes, and those of PyTorch, but that PyTorch 2.13 makes
// what is too large for float8_e4m3fn its largest number, rounds float64 to float16 by way of
// float32, gives float8_e8m0fnu a size for negative numbers and 0, and forgets the sign of some
// NaNs; and that NumPy keeps signalling NaNs signalling between float16 and float32, and ml_dtypes
// gives the nearest integer for infinities and 0 for NaN. There is no cast from complex to real
// numbers but bool, none of handles, and none between types of different lanes.

#ifndef DOVETAIL_CORE_COPY_H_
#define DOVETAIL_CORE_COPY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/memory_order.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"

namespace dovetail::inline DOVETAIL_ABI {

// Copies the elements of `src`, broadcast to the shape of `dst`, into `dst`. Where the two overlap
// the result is as if `src` had been copied first. FailedPrecondition for a read-only `dst`,
// InvalidArgument for types or shapes that do not go together, NotFound for a device without
// backend.
absl::Status Copy(const Tensor& dst, const Tensor& src,
                  const std::optional<Stream>& stream = std::nullopt);

// The same for a `src` of any type that can be cast to dst's; equal types are copied. Where the
// backend of a device has no casts (DeviceBackend::CastCopy), the host casts, which waits for the
// stream. InvalidArgument besides where there is no cast.
absl::Status CopyCast(const Tensor& dst, const Tensor& src,
                      const std::optional<Stream>& stream = std::nullopt);

// Sets every element of `dst` to the one at `element`, which has dst's type and lies on the host.
absl::Status Fill(const Tensor& dst, const void* element,
                  const std::optional<Stream>& stream = std::nullopt);

// A new, dense, writable copy on `device`. Sub-byte elements are packed in it.
absl::StatusOr<Tensor> CopyTo(const Tensor& src, Device device,
                              const std::optional<Stream>& stream = std::nullopt);

// What a copy is to be; what is not given is as in the source.
struct CopyTarget {
  std::optional<DType> dtype;
  std::optional<Device> device;
  MemoryOrder order = MemoryOrder::kC;
};

// A new, writable copy without gaps. Errors are those of CopyCast and CopyTo.
absl::StatusOr<Tensor> CopyAs(const Tensor& src, const CopyTarget& target,
                              const std::optional<Stream>& stream = std::nullopt);

// `src` itself when it is row-major without gaps, else a dense copy on its device.
absl::StatusOr<Tensor> Contiguous(const Tensor& src,
                                  const std::optional<Stream>& stream = std::nullopt);

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_CORE_COPY_H_
