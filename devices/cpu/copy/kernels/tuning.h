// Prefetch distances for copies larger than the cache: whether hardware prefetch will do.
//
//   const CopyTuning& tuning = TuningOfThisProcessor();
//   if (tuning.prefetch_bytes > 0) …            // software prefetch pays here
//
// All values were measured on the processors named below. Other AMD processors use the values of
// Zen 5, all others those of Sapphire Rapids. Plain data; any thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/x86_processor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct CopyTuning {
  // Transposes: the bytes of each row of dst that are read side by side, from as many rows of src.
  int64_t panel_bytes;
  // The bytes that are read of each of these rows while as many following bytes are prefetched; 0
  // if hardware prefetch is faster.
  int64_t prefetch_bytes;
  // How many bytes ahead dense rows that are not contiguous in src are prefetched; 0: not at all.
  int64_t prefetch_distance;
};

// EPYC of the fifth generation. Hardware prefetch follows few rows of src.
DOVETAIL_NOT_SHARED inline constexpr CopyTuning kZen5 = {
    .panel_bytes = 256,
    .prefetch_bytes = 1024,
    .prefetch_distance = 8192,
};

// Xeon of the fourth generation. Hardware prefetch follows about 64 rows of src.
DOVETAIL_NOT_SHARED inline constexpr CopyTuning kSapphireRapids = {
    .panel_bytes = 128,
    .prefetch_bytes = 0,
    .prefetch_distance = 0,
};

DOVETAIL_NOT_SHARED inline constexpr const CopyTuning* kAllTunings[] = {&kSapphireRapids, &kZen5};

// The values of the current processor.
inline const CopyTuning& TuningOfThisProcessor() {
#if defined(__x86_64__)
  if (ThisX86Processor().is_amd) return kZen5;
#endif
  return kSapphireRapids;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_
