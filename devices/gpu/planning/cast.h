// MergedCast: a strided cast in its simplest form, and the kernel launches that perform it.
//
//   MergedCast cast;
//   absl::Status s = MergeCast(dst, src, &cast);
//   s = ForEachCastLaunch(cast, table, [&](const CastLaunch& launch) {
//     return Launch(KernelName(launch.kernel), launch.blocks, launch.arguments);
//   });
//
// Elements of several lanes and pairs of complex numbers are cast part by part. Borrows the memory
// and does not access it. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_CAST_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_CAST_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/gpu/planning/launches.h"
#include "dovetail/devices/gpu/planning/merge.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

struct MergedCast {
  // run_bytes is the size of an element of dst, or 0 when there are no elements. The loops step
  // over elements, in bytes of either side.
  MergedCopy elements;
  // The types of an element that is cast. They are equal if only the imaginary parts are missing in
  // src: MergedCopy `elements` is then a copy.
  DType from, to;
  // The imaginary parts of dst, as a fill, if src is real.
  std::optional<MergedCopy> zeros;
};

// Whether the kernels cast elements of one type to the other.
bool HasCast(DType from, DType to);

// Sets `*merged`. `dst` and `src` have the same shape and different types; dst's elements do not
// overlap. Unimplemented for types without a cast by kernels (HasCast), and for memory that is not
// aligned to its elements.
absl::Status MergeCast(const TensorView& dst, const TensorView& src, MergedCast* merged);

struct CastLaunch {
  KernelId kernel;
  uint32_t blocks;        // of kBlockThreads threads
  const void* arguments;  // of the kernel; valid during the call
};

// Writes what each of the 256 codes of `from`, a type of one byte, becomes as an element of `to`.
using CastTable = absl::FunctionRef<absl::Status(DType from, DType to, unsigned char* table)>;

// Calls take() for each launch until a call fails. The types of the cast differ. `limits.kernels`
// is kAll.
absl::Status ForEachCastLaunch(const MergedCast& cast, CastTable table,
                               absl::FunctionRef<absl::Status(const CastLaunch&)> take,
                               const LaunchLimits& limits = {});

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_CAST_H_
