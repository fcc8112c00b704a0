// Copies that are larger than the cache: written past it, in whole lines.
//
// A processor that writes a part of a line reads the line first, and what a large copy writes
// drives everything else out of the cache. Stores that go past it avoid both, but only where they
// fill lines of 64 bytes. These are made in the registers of a kernel (whole_lines.h), or are what
// lies between the ends of long rows (direct_rows.h). Otherwise, where the processor is quicker
// that way (memory_order.h), blocks of the copy are made in a small buffer, by the kernels for
// copies within the cache, and from there their rows are written line by line; what is left of a
// row's last line waits in the buffer for the row's next block. Rows may start at any byte.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STREAMED_H_
#define DOVETAIL_DEVICES_CPU_COPY_STREAMED_H_

#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"
#include "dovetail/devices/cpu/stream_threshold.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, where dst has no long rows to write, and where what the whole copy
// writes is too little for how that would be done. `dst` and `src` are where the first turn of
// all loops is.
bool ExecuteStreamed(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     const StreamThresholds& from);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_STREAMED_H_
