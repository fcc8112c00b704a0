// How a transpose past the cache goes through src: in bands of rows, and along each for a while.
//
//   const Bands bands = BandsOf(plan, order, /*at_lines=*/true, /*from_memory=*/true, 0);
//   // bands.rows rows at a time, bands.strip bytes of each, bands.ahead of them in one go

#ifndef DOVETAIL_DEVICES_CPU_COPY_BANDS_H_
#define DOVETAIL_DEVICES_CPU_COPY_BANDS_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/memory_order.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

struct Bands {
  int64_t rows;   // of src: whole lines of dst, or all of a short row
  int64_t strip;  // bytes of each, before the next band
  int64_t ahead;  // bytes of each in one go, whole lines; 0 where nothing is asked for
};

// Those of a transpose; at_lines: rows of dst begin at lines; from_memory: src is farther away than
// the last cache. Rows of up to `short_row` bytes are not divided.
Bands BandsOf(const CopyPlan& plan, const MemoryOrder& order, bool at_lines, bool from_memory,
              int64_t short_row);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_BANDS_H_
