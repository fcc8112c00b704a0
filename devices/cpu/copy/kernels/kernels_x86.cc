// The kernels for each SIMD level of x86-64, all compiled from the same .inc files.

#include "dovetail/devices/cpu/copy/kernels/kernels_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/compile_for.h"
#include "dovetail/devices/cpu/copy/kernels/elements.h"
#include "dovetail/devices/cpu/copy/kernels/permutation.h"
#include "dovetail/devices/cpu/copy/kernels/rows.h"

// g++ 12 warns about the undefined operands in its own AVX-512 header.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

void StreamDone() { _mm_sfence(); }

#define DOVETAIL_HAS_SHUFFLE 0
#define DOVETAIL_HAS_MASKS 0
#define DOVETAIL_HAS_BYTE_PERMUTES 0
namespace sse2 {
#include "dovetail/devices/cpu/copy/kernels/vector128_x86.inc"
using Widest = Vector128;
using Tile = Vector128;
#include "dovetail/devices/cpu/copy/kernels/level.inc"
}  // namespace sse2

#undef DOVETAIL_HAS_SHUFFLE
#define DOVETAIL_HAS_SHUFFLE 1
DOVETAIL_BEGIN_TARGET("ssse3")
namespace ssse3 {
#include "dovetail/devices/cpu/copy/kernels/vector128_x86.inc"
using Widest = Vector128;
using Tile = Vector128;
#include "dovetail/devices/cpu/copy/kernels/level.inc"
}  // namespace ssse3
DOVETAIL_END_TARGET

// NOLINTBEGIN(readability-duplicate-include): each level compiles them again
DOVETAIL_BEGIN_TARGET("avx2")
namespace avx2 {
#include "dovetail/devices/cpu/copy/kernels/vector128_x86.inc"
#include "dovetail/devices/cpu/copy/kernels/vector256_x86.inc"
using Widest = Vector256;
using Tile = Vector256;
#include "dovetail/devices/cpu/copy/kernels/level.inc"
}  // namespace avx2
DOVETAIL_END_TARGET

#undef DOVETAIL_HAS_MASKS
#define DOVETAIL_HAS_MASKS 1
DOVETAIL_BEGIN_TARGET("avx512f,avx512bw,avx512dq,avx512vl")
namespace avx512 {
#include "dovetail/devices/cpu/copy/kernels/vector128_x86.inc"
#include "dovetail/devices/cpu/copy/kernels/vector256_x86.inc"
#include "dovetail/devices/cpu/copy/kernels/vector512_x86.inc"
using Widest = Vector512;
// Loading four lanes from four addresses takes longer than loading two lanes twice.
using Tile = Vector256;
#include "dovetail/devices/cpu/copy/kernels/level.inc"
}  // namespace avx512
DOVETAIL_END_TARGET

#undef DOVETAIL_HAS_BYTE_PERMUTES
#define DOVETAIL_HAS_BYTE_PERMUTES 1
DOVETAIL_BEGIN_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")
namespace avx512vbmi {
#include "dovetail/devices/cpu/copy/kernels/vector128_x86.inc"
#include "dovetail/devices/cpu/copy/kernels/vector256_x86.inc"
#include "dovetail/devices/cpu/copy/kernels/vector512_x86.inc"
using Widest = Vector512;
using Tile = Vector256;
#include "dovetail/devices/cpu/copy/kernels/level_kernels.inc"

// VBMI moves bytes across lanes, so the kernels for bytes differ from those of `avx512`.
constexpr Kernels kKernels = [] {
  Kernels kernels = avx512::kKernels;
  kernels.permute = Permute;
  kernels.stream_transpose[0] = TransposeStreaming<1>;
  kernels.join_rows = JoinRows<Widest>;
  return kernels;
}();
}  // namespace avx512vbmi
DOVETAIL_END_TARGET
// NOLINTEND(readability-duplicate-include)

}  // namespace

const Kernels* X86Kernels(SimdLevel level) {
  switch (level) {
    case SimdLevel::kSse2:
      return &sse2::kKernels;
    case SimdLevel::kSsse3:
      return &ssse3::kKernels;
    case SimdLevel::kAvx2:
      return &avx2::kKernels;
    case SimdLevel::kAvx512:
      return &avx512::kKernels;
    case SimdLevel::kAvx512Vbmi:
      return &avx512vbmi::kKernels;
    case SimdLevel::kNone:
    case SimdLevel::kNeon:
      break;
  }
  return nullptr;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // __x86_64__
