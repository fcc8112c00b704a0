// Copies of elements, casts and fills.
//
//   absl::Status s = CopyInto(dst, src);              // broadcasts and casts src as dst needs it
//   absl::StatusOr<Tensor> y = Copied(x);             // new, dense memory on x's device
//   absl::StatusOr<Tensor> h = Copied(x, {.dtype = kFloat16, .device = Device::Cuda(0)});
//   absl::StatusOr<Tensor> z = AsContiguous(x);         // x itself if it is contiguous
//
// If one side is not on the CPU, the backend of that side does the work. The work is ordered on the
// given stream, after all work on the two tensors so far. Without a stream it is ordered on the
// current one of the side that is a device's own memory. It is done when the call returns if one
// side is memory of the CPU, or if the host can access either side and no stream is given. (Pinned
// memory of another library may come as the CPU's, and be freed after the call. With a stream, only
// copies between devices, pinned and managed memory run while the host goes on, and only they can
// be captured into a graph.) A null tensor on either side is FailedPrecondition.
//
// What casts do, for every pair of types but those below:
//   to bool                  anything but 0 is true, NaN too
//   integer to integer       the low bits
//   float to integer         truncates. NaN and values out of range are no error: they become what
//                            x86's instructions make of them, as in NumPy and PyTorch on x86, on
//                            every device:
//                              int32, int64      the smallest number
//                              8 and 16 bits     the low bits of the int32 result
//                              uint32, uint64    below half of the range the result of the signed
//                                                type (-1.0 gives the largest number), from there
//                                                on that of x minus this half, plus this half
//   anything to float        rounds to nearest, ties to even. A value that is too large becomes an
//                            infinity in float16, bfloat16, float8_e5m2 and the other IEEE formats,
//                            NaN in float8_e4m3fn and the fnuz formats, and the largest number in
//                            formats without NaN. NaN stays NaN and keeps its sign if the format
//                            has one. Integers, and float64 except to float16, are converted to
//                            formats of 16 bits or less through float32, which rounds twice
//   real to complex          with an imaginary part of 0
// There is no cast from complex to real numbers except bool, none of handles, and none between
// types of different lanes.
//
// NumPy, ml_dtypes and PyTorch have the same rules with these exceptions. PyTorch 2.13 makes a
// value too large for float8_e4m3fn its largest number, converts float64 to float16 through
// float32, gives negative numbers and 0 a size in float8_e8m0fnu, and loses the sign of some NaNs.
// NumPy keeps signalling NaNs signalling between float16 and float32. ml_dtypes gives the nearest
// integer for infinities and 0 for NaN.

#ifndef DOVETAIL_CORE_COPY_H_
#define DOVETAIL_CORE_COPY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct CopyOptions {
  // The stream that orders the work; by default the current one.
  std::optional<Stream> stream = {};
};

// Copies the elements of `src`, broadcast to the shape of `dst` and cast to its type, into `dst`.
// If the two overlap, by the addresses of their elements, the result is as if `src` had been copied
// first. A cast between two devices sends the elements as those of the smaller type. If the backend
// of a device has no such cast (DeviceBackend::CastCopy), the host casts, which waits for the
// stream.
// FailedPrecondition for a read-only `dst`, InvalidArgument for shapes that do not broadcast and
// types without a cast, NotFound for a device without a backend.
absl::Status CopyInto(Tensor& dst, const Tensor& src, const CopyOptions& options = {});
// Into a temporary view: CopyInto(*t.Slice(0, {.stop = 2}), src).
absl::Status CopyInto(Tensor&& dst, const Tensor& src, const CopyOptions& options = {});

// What the copy is like; what is not given is as in the source.
struct CopiedOptions {
  std::optional<DType> dtype = {};
  std::optional<Device> device = {};
  MemoryOrder order = MemoryOrder::kC;
  std::optional<Stream> stream = {};  // as in CopyOptions
};

// A new, writable copy without gaps; sub-byte elements are packed in it. Errors are those of
// CopyInto, and what Tensor::Empty says.
absl::StatusOr<Tensor> Copied(const Tensor& src, const CopiedOptions& options = {});

// `src` itself if it is contiguous, else a dense row-major copy on its device. Errors are those of
// Copied.
absl::StatusOr<Tensor> AsContiguous(const Tensor& src, const CopyOptions& options = {});

// Sets every element of `dst` to the one at `element`, which has dst's type and is in host memory.
// The element is read before the call returns. The host doesn't wait if it can't access `dst` and
// the backend has such a fill (DeviceBackend::Fill); otherwise it waits, with a stream, too. Errors
// are those of CopyInto.
absl::Status Fill(Tensor& dst, const void* element, const CopyOptions& options = {});
absl::Status Fill(Tensor&& dst, const void* element, const CopyOptions& options = {});

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_COPY_H_
