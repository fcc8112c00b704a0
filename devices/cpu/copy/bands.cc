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

// (A band that takes the iterations that make none of their own is no wider than a kernel may be
// given.)
constexpr bool SuitsKernels(const CopyTuning* tuning) {
  for (int64_t unit = 1; unit <= kMaxUnit; unit *= 2) {
    const int64_t most =
        std::max({tuning->band_bytes, tuning->least_band_bytes, tuning->least_band_rows * unit});
    if (2 * std::min(most, tuning->band_rows * unit) > MostLines(unit) * kLine) return false;
  }
  return true;
}
static_assert(std::ranges::all_of(kAllTunings, SuitsKernels));

// Bounds of Bands::prefetch_bytes, where that depends on the number of rows.
constexpr int64_t kLeastAhead = 256;
constexpr int64_t kMostAhead = 2048;

// Whether what is prefetched of so many rows is evicted before it is read, and would not be of half
// as many. (Where rows of src are aligned to lines, float32 comes as fast from the cache after the
// second; float64 is read square by square and must stay in the first. Where they are not, what
// goes to the second cache stays there.)
bool IsGone(int64_t rows, int64_t pitch, int64_t unit, Cache prefetch_into) {
  const bool src_at_lines = pitch % kLine == 0;
  if (!src_at_lines && (unit == 8 || prefetch_into == Cache::kL2)) return false;
  if (unit == 8) return Collide(rows, pitch);
  return (unit != 4 || !src_at_lines) && OverfillL2(rows, pitch);
}

// The rows of src that fill so many bytes of a row of dst, a line at least; half of them where some
// would be evicted and that leaves two lines.
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
    // (What is gathered of float32 has room for more.)
    if (at_lines && unit == 4) bands.prefetch_bytes *= 2;
    return bands;
  }
  // (Narrow elements come as fast in wide bands.)
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
