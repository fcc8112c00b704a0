// The kernels for NEON on 64-bit ARM.

#include "dovetail/devices/cpu/copy/kernels/kernels_internal.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/elements.h"
#include "dovetail/devices/cpu/copy/kernels/permutation.h"
#include "dovetail/devices/cpu/copy/kernels/rows.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

void StreamDone() {}

#define DOVETAIL_HAS_SHUFFLE 1
#define DOVETAIL_HAS_MASKS 0
#define DOVETAIL_HAS_BYTE_PERMUTES 0
namespace neon {
#include "dovetail/devices/cpu/copy/kernels/vector128_neon.inc"
using Widest = Vector128;
using Tile = Vector128;
#include "dovetail/devices/cpu/copy/kernels/level.inc"
}  // namespace neon

}  // namespace

const Kernels* NeonKernels() { return &neon::kKernels; }

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // __aarch64__
