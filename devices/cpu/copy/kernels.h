// The kernels of each level of vector instructions.
//
//   const Kernels& kernels = KernelsOf(BestSimdLevel());
//   kernels.transpose[2](block);                          // elements of 1 << 2 bytes
//
// Threads: any.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_H_

#include <cstdint>

#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/simd_level.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// By the logarithm of the size of an element. What a level has no instructions for copies element
// by element: every entry works for every block that its comment allows.
struct Kernels {
  BlockKernel transpose[kUnitSizes];  // inner dense in dst, outer dense in src
  // The same past the cache. dst, its steps over outer and the bytes of inner are multiples of 64,
  // and outer takes at least 16 bytes of src. Null where the level is too narrow to gain.
  BlockKernel transpose_lines[kUnitSizes];
  BlockKernel take_apart[kUnitSizes];    // inner dense in dst, outer (or 1) dense in src and within
                                         // inner's step there; or inner steps back by 1 in src
  BlockKernel put_together[kUnitSizes];  // inner and outer dense in dst, outer dense in src
  // Writes lines of 64 bytes past the cache; dst is aligned to 64. Done() follows the last of them,
  // before others may look.
  void (*stream)(char* dst, const char* src, int64_t lines);
  void (*stream_done)();
};

// Null where this program or machine has no such level.
const Kernels* KernelsOf(SimdLevel level);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_H_
