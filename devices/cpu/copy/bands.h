// The block sizes in which a streaming transpose reads src.
//
//   const Bands bands = BandsOf(plan, tuning, /*at_lines=*/true, /*from_memory=*/true, 0);
//   // bands.rows rows at a time, bands.strip bytes of each, prefetched by bands.prefetch_bytes

#ifndef DOVETAIL_DEVICES_CPU_COPY_BANDS_H_
#define DOVETAIL_DEVICES_CPU_COPY_BANDS_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/tuning.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct Bands {
  int64_t rows;   // rows of src read side by side: whole lines of dst, or a short row of it
  int64_t strip;  // bytes read of each row before the next band
  int64_t prefetch_bytes;  // bytes of each row in a prefetch batch; 0: no prefetch
};

// The sizes for a transpose. at_lines: the rows of dst are aligned to cache lines; from_memory: src
// is in memory, not in the last-level cache. Rows of up to `short_row` bytes are not divided.
Bands BandsOf(const CopyPlan& plan, const CopyTuning& tuning, bool at_lines, bool from_memory,
              int64_t short_row);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_BANDS_H_
