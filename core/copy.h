// Copies of elements: into a tensor, to a device, into a dense tensor, to another type; and fills.
//
//   absl::Status s = CopyInto(dst, src);              // broadcasts and casts src as dst needs it
//   absl::StatusOr<Tensor> y = Copied(x);             // new, dense memory on x's device
//   absl::StatusOr<Tensor> h = Copied(x, {.dtype = kFloat16, .device = Device::Cuda(0)});
//   absl::StatusOr<Tensor> z = Contiguous(x);         // x itself when it is row-major already
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

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct CopyOptions {
  // Where the work is ordered; none: on the current stream.
  std::optional<Stream> stream;
};

// Copies the elements of `src`, broadcast to the shape of `dst` and cast to its type, into `dst`.
// Where the two overlap the result is as if `src` had been copied first. Where the backend of a
// device has no casts (DeviceBackend::CastCopy), the host casts, which waits for the stream.
// FailedPrecondition for a read-only `dst`, InvalidArgument for shapes that do not go together and
// types without a cast, NotFound for a device without backend.
absl::Status CopyInto(Tensor& dst, const Tensor& src, const CopyOptions& options = {});
// The same into a view that was made for the call: CopyInto(*t.Slice(0, {.stop = 2}), src).
absl::Status CopyInto(Tensor&& dst, const Tensor& src, const CopyOptions& options = {});

// What a copy is to be; what is not given is as in the source.
struct CopiedOptions {
  std::optional<DType> dtype;
  std::optional<Device> device;
  MemoryOrder order = MemoryOrder::kC;
  std::optional<Stream> stream;  // as in CopyOptions
};

// A new, writable copy without gaps; sub-byte elements are packed in it. Errors are those of
// CopyInto, and what Tensor::Empty says.
absl::StatusOr<Tensor> Copied(const Tensor& src, const CopiedOptions& options = {});

// The parts of these two, for code that wants just one of them. Copy: into a `dst` of the same
// type; InvalidArgument for another one. Other errors are those of CopyInto.
absl::Status Copy(const Tensor& dst, const Tensor& src,
                  const std::optional<Stream>& stream = std::nullopt);

// CopyInto.
absl::Status CopyCast(const Tensor& dst, const Tensor& src,
                      const std::optional<Stream>& stream = std::nullopt);

// Sets every element of `dst` to the one at `element`, which has dst's type and lies on the host.
absl::Status Fill(const Tensor& dst, const void* element,
                  const std::optional<Stream>& stream = std::nullopt);

// Copied, in row-major order and of the same type.
absl::StatusOr<Tensor> CopyTo(const Tensor& src, Device device,
                              const std::optional<Stream>& stream = std::nullopt);

// Copied, with the stream apart.
struct CopyTarget {
  std::optional<DType> dtype;
  std::optional<Device> device;
  MemoryOrder order = MemoryOrder::kC;
};
absl::StatusOr<Tensor> CopyAs(const Tensor& src, const CopyTarget& target,
                              const std::optional<Stream>& stream = std::nullopt);

// `src` itself when it is row-major without gaps, else a dense copy on its device.
absl::StatusOr<Tensor> Contiguous(const Tensor& src,
                                  const std::optional<Stream>& stream = std::nullopt);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_COPY_H_
