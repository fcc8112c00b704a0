#include "absl/status/status.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/cpu/cast/cast_copy.h"
#include "dovetail/devices/cpu/copy/strided_copy.h"
#include "dovetail/devices/cpu/large_work.h"
#include "dovetail/devices/cpu/parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

absl::Status Copy(const TensorView& dst, const TensorView& src) {
  return StridedCopy(dst, src) ? absl::OkStatus() : LargeWork::Stopped();
}

absl::Status CastCopy(const TensorView& dst, const TensorView& src) {
  return CastStrided(dst, src);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
