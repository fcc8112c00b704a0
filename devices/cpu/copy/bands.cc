#include "dovetail/devices/cpu/copy/bands.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/copy/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

// (A band that takes the turns that make none of their own is no wider than a kernel may be given.)
constexpr bool SuitsKernels(const MemoryOrder* order) {
  for (int64_t unit = 1; unit <= kMaxUnit; unit *= 2) {
    const int64_t most =
        std::max({order->band_bytes, order->least_band_bytes, order->least_band_rows * unit});
    if (2 * std::min(most, order->band_rows * unit) > MostLines(unit) * kLine) return false;
  }
  return true;
}
static_assert(std::ranges::all_of(kAllMemoryOrders, SuitsKernels));

// What is asked for of a row in one go, where that depends on the others.
constexpr int64_t kLeastAhead = 256;
constexpr int64_t kMostAhead = 2048;

// Whether what was asked for of so many rows is gone when it is read, and of half of them is not.
// (From the cache after the second, float32 at the begins of lines and float64 off them come as
// fast; float64 at the begins, of which squares are read at once, want to stay in the first. Off
// the begins, what is asked for into the second at once stays there.)
bool IsGone(int64_t rows, int64_t pitch, int64_t unit, Cache asked_into) {
  const bool src_at_lines = pitch % kLine == 0;
  if (!src_at_lines && (unit == 8 || asked_into == Cache::kSecond)) return false;
  if (unit == 8) return Collide(rows, pitch);
  return (unit != 4 || !src_at_lines) && OverfillSecond(rows, pitch);
}

// The rows that make so many bytes of dst, a line at least; half of them where the others would be
// gone, if that leaves two lines.
int64_t RowsOf(int64_t bytes, const CopyPlan& plan, const MemoryOrder& order) {
  const int64_t unit = plan.unit(), line = kLine / unit;
  const int64_t rows = std::max(std::min(bytes / unit, order.band_rows) / line * line, line);
  const bool is_gone =
      order.ahead_bytes > 0 && IsGone(rows, plan.loops[0].src_step, unit, order.asked_into);
  return is_gone && rows >= 4 * line ? rows / 2 : rows;
}

}  // namespace

Bands BandsOf(const CopyPlan& plan, const MemoryOrder& order, bool at_lines, bool from_memory,
              int64_t short_row) {
  const int64_t unit = plan.unit(), row = plan.loops[0].count;
  const bool is_short = row * unit <= short_row;
  Bands bands{
      .rows = is_short ? row : RowsOf(order.band_bytes, plan, order),
      .strip = order.strip_bytes,
      .ahead = order.ahead_bytes,
  };
  if (!from_memory) return bands;
  const bool collide = Collide(bands.rows, plan.loops[0].src_step);
  if (at_lines) {
    const bool is_gathered = collide && unit < 8;
    bands.strip = is_gathered ? order.strip_bytes_gathered : order.strip_bytes_at_lines;
  }
  if (order.ahead_bytes_of_band == 0) return bands;
  if (collide) {
    // (What is gathered of float32 has room for more.)
    if (at_lines && unit == 4) bands.ahead *= 2;
    return bands;
  }
  // (Narrow elements come as fast in wide bands.)
  if (at_lines && unit >= 4 && !is_short) {
    const int64_t bytes = std::max(order.least_band_bytes, order.least_band_rows * unit);
    bands.rows = RowsOf(bytes, plan, order);
  }
  const int64_t of_row = order.ahead_bytes_of_band / bands.rows / kLine * kLine;
  bands.ahead = std::clamp(of_row, kLeastAhead, kMostAhead);
  return bands;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
