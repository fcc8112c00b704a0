#include "dovetail/devices/cpu/copy/bands.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Whether bands are never wider than kernels accept. The last band also takes the remaining rows,
// so it can be nearly twice as wide as the others.
constexpr bool SuitsKernels(const CopyTuning* tuning) {
  for (int64_t unit = 1; unit <= kMaxUnit; unit *= 2) {
    const int64_t most =
        std::max({tuning->band_bytes, tuning->least_band_bytes, tuning->least_band_rows * unit});
    if (2 * std::min(most, tuning->band_rows * unit) > MostLines(unit) * kLine) return false;
  }
  return true;
}
static_assert(std::ranges::all_of(kAllTunings, SuitsKernels));

// Bounds of Bands::prefetch_bytes if it depends on the number of rows.
constexpr int64_t kLeastAhead = 256;
constexpr int64_t kMostAhead = 2048;

// Whether prefetched lines of this many rows are evicted before they are read, and half as many
// rows would avoid it. If rows of src are aligned to lines, float32 reads as fast from the L3
// cache, and float64 is read in squares, which must stay in the L1 cache. If they are not aligned,
// lines prefetched into the L2 cache stay there.
bool IsGone(int64_t rows, int64_t pitch, int64_t unit, Cache prefetch_into) {
  const bool src_at_lines = pitch % kLine == 0;
  if (!src_at_lines && (unit == 8 || prefetch_into == Cache::kL2)) return false;
  if (unit == 8) return Collide(rows, pitch);
  return (unit != 4 || !src_at_lines) && OverfillL2(rows, pitch);
}

// The number of rows of src that fill `bytes` of a row of dst, at least a line. Half of them if
// some would be evicted, and half are two lines at least.
int64_t RowsOf(int64_t bytes, const CopyPlan& plan, const CopyTuning& tuning) {
  const int64_t unit = plan.unit(), line = kLine / unit;
  const int64_t rows = std::max(std::min(bytes / unit, tuning.band_rows) / line * line, line);
  const bool is_gone =
      tuning.prefetch_bytes > 0 && IsGone(rows, plan.loops[0].src_step, unit, tuning.prefetch_into);
  return is_gone && rows >= 4 * line ? rows / 2 : rows;
}

}  // namespace

Bands BandsOf(const CopyPlan& plan, const CopyTuning& tuning, bool at_lines, bool from_memory,
              int64_t short_row) {
  const int64_t unit = plan.unit(), row = plan.loops[0].count;
  const bool is_short = row * unit <= short_row;
  Bands bands{
      .rows = is_short ? row : RowsOf(tuning.band_bytes, plan, tuning),
      .strip = tuning.strip_bytes,
      .prefetch_bytes = tuning.prefetch_bytes,
  };
  if (!from_memory) return bands;
  const bool collide = Collide(bands.rows, plan.loops[0].src_step);
  if (at_lines) {
    const bool is_gathered = collide && unit < 8;
    bands.strip = is_gathered ? tuning.strip_bytes_packed : tuning.strip_bytes_at_lines;
  }
  if (tuning.prefetch_bytes_of_band == 0) return bands;
  if (collide) {
    // Packed float32 leaves room in the cache for twice as much.
    if (at_lines && unit == 4) bands.prefetch_bytes *= 2;
    return bands;
  }
  // For narrow elements, wide bands are as fast.
  if (at_lines && unit >= 4 && !is_short) {
    const int64_t bytes = std::max(tuning.least_band_bytes, tuning.least_band_rows * unit);
    bands.rows = RowsOf(bytes, plan, tuning);
  }
  const int64_t of_row = tuning.prefetch_bytes_of_band / bands.rows / kLine * kLine;
  bands.prefetch_bytes = std::clamp(of_row, kLeastAhead, kMostAhead);
  return bands;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
