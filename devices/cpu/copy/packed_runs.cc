#include "dovetail/devices/cpu/copy/packed_runs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/carried_lines.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using internal_loop_nest::DividedLoop;
using internal_loop_nest::DivideEvenly;

// The longest row of dst that is written together with the rows that continue it.
constexpr int64_t kShortRow = 2 * kLine;
// Bytes of each packed row that are written before a further part of the other half is packed; and
// the rows prefetched ahead of packing.
constexpr int64_t kAtOnce = kLine / 2;
constexpr int64_t kRowsAhead = 4;

// The loops of a plan in the order used here. A run is loops[0] and the loop `run`, which continues
// it in dst. A strip is loops[1] and the loop `strip`, which continues it in src. (0: there is
// none.)
class Loops {
 public:
  // Takes `bytes` of each row of src at a time.
  Loops(const CopyPlan& plan, int run, int strip, int64_t bytes)
      : row(plan.loops[0]),
        column(DivideEvenly(plan.loops[1], bytes / plan.unit())),
        run(DivideEvenly(run == 0 ? Loop{1, 0, 0} : plan.loops[run],
                         kMostLines * kLine / (row.count * plan.unit()))),
        strip(DivideEvenly(strip == 0 ? Loop{1, 0, 0} : plan.loops[strip],
                           std::max<int64_t>(bytes / (plan.loops[1].count * plan.unit()), 1))) {
    around[kColumn] = column.Parts();
    around[kStrip] = this->strip.Parts();
    around[kRun] = this->run.Parts();
    const Loop& all = this->run.loop();
    const int next = run == 0 ? 0 : plan.FindLoop(2, &Loop::dst_step, all.count * all.dst_step);
    if (next != 0 && next != strip) {
      around[rank++] = plan.loops[next];
      runs_follow = true;
    }
    for (int i = 2; i < plan.rank; ++i) {
      if (i != run && i != strip && i != next) around[rank++] = plan.loops[i];
    }
  }

  // The first loops of `around`. If runs_follow, the loop after them continues runs in dst.
  enum { kColumn, kStrip, kRun, kFirstAround };

  // Whether the run continues one in dst that is written before.
  bool Follows(const Odometer& at) const {
    return at.index(kRun) > 0 || (runs_follow && at.index(kFirstAround) > 0);
  }

  Loop row;
  bool runs_follow = false;
  DividedLoop column, run, strip;
  Loop around[CopyPlan::kMaxLoops + 1];
  int rank = kFirstAround;
};

// One half of the buffer, filled with rows of src. The first rows hold the columns before the run.
class Half {
 public:
  // The distance of two rows: an odd number of lines, so that rows fall into all sets of the cache.
  static int64_t PitchFor(const CopyTuning& tuning) { return tuning.packed_bytes + kLine; }

  Half(const Loops& loops, int64_t unit, std::optional<int64_t> before, const CopyTuning& tuning,
       char* bytes)
      : loops_(loops),
        unit_(unit),
        before_(before),
        prefetch_into_(tuning.prefetch_into),
        pitch_(PitchFor(tuning)),
        bytes_(bytes) {}

  // Begins to fill the buffer with the iteration `at`; Copy does the work. `carry`: as
  // ColumnsBefore::carry.
  void Start(const Odometer& at, const char* src, char* carry) {
    src_ = src + at.src;
    columns_ = loops_.column.SizeOf(at.index(Loops::kColumn));
    strips_ = loops_.strip.SizeOf(at.index(Loops::kStrip));
    const Loop& row = loops_.row;
    columns_before_.at = -kLine / unit_ * pitch_;
    columns_before_.carry = carry;
    columns_before_.has_carry = carry != nullptr && loops_.Follows(at);
    rows_before_ = before_ && !columns_before_.has_carry ? kLine / unit_ : 0;
    to_before_ = at.index(Loops::kRun) == 0
                     ? before_.value_or(0)
                     : (row.count - rows_before_) * row.src_step - loops_.run.loop().src_step;
    rows_ = rows_before_ + loops_.run.SizeOf(at.index(Loops::kRun)) * loops_.row.count;
    copied_ = 0;
  }

  // Packs up to `rows` more rows.
  void Copy(int64_t rows) {
    const int64_t end = std::min(copied_ + rows, rows_);
    for (; copied_ < end; ++copied_) {
      if (copied_ + kRowsAhead < rows_)
        PrefetchRow(Row(copied_ + kRowsAhead), bytes(), prefetch_into_);
      std::memcpy(bytes_ + copied_ * pitch_, Row(copied_), bytes());
    }
  }

  // The next rows that Copy(rows) packs, as far as they have one pitch, for the kernel to prefetch.
  // Copy prefetches them again: they fall into few sets of the L1 cache, so most are evicted by
  // then.
  PrefetchedRows Prefetched(int64_t rows) const {
    const int64_t first = copied_ + kRowsAhead;
    if (first < rows_before_ || first >= rows_) return {};
    const int64_t in_row = (first - rows_before_) % loops_.row.count;
    return {Row(first),     std::min({rows, rows_ - first, loops_.row.count - in_row}),
            bytes(),        loops_.row.src_step,
            prefetch_into_, /*from_memory=*/true};
  }

  int64_t pitch() const { return pitch_; }
  int64_t rows() const { return rows_; }
  int64_t bytes() const { return strips_ * columns_ * unit_; }
  int64_t columns() const { return columns_; }
  int64_t strips() const { return strips_; }
  // The columns before row `row` of dst.
  ColumnsBefore columns_before(int64_t row) const {
    ColumnsBefore columns = columns_before_;
    if (columns.carry != nullptr) columns.carry += row * kLine;
    return columns;
  }
  // The address of the run's first element.
  const char* first() const { return bytes_ + rows_before_ * pitch_; }
  int64_t run_length() const { return rows_ - rows_before_; }

 private:
  const char* Row(int64_t i) const {
    if (i < rows_before_) return src_ + to_before_ + i * loops_.row.src_step;
    i -= rows_before_;
    return src_ + i % loops_.row.count * loops_.row.src_step +
           i / loops_.row.count * loops_.run.loop().src_step;
  }

  const Loops& loops_;
  const int64_t unit_;
  const std::optional<int64_t> before_;
  const Cache prefetch_into_;
  const int64_t pitch_;
  char* const bytes_;
  const char* src_ = nullptr;
  int64_t columns_ = 0;
  int64_t strips_ = 0;
  int64_t rows_before_ = 0;
  int64_t to_before_ = 0;
  ColumnsBefore columns_before_;
  int64_t rows_ = 0;
  int64_t copied_ = 0;
};

// Writes the half `now` and fills `next` at the same time.
void Write(const Half& now, Half* next, char* dst, const Loops& loops, int64_t unit,
           TransposeKernel kernel) {
  const Loop& column = loops.column.loop();
  const int64_t at_once = kAtOnce / unit;
  const int64_t parts = now.strips() * ((now.columns() + at_once - 1) / at_once);
  const int64_t rows = next == nullptr ? 0 : (next->rows() + parts - 1) / parts;
  for (int64_t s = 0; s < now.strips(); ++s) {
    for (int64_t c = 0; c < now.columns(); c += at_once) {
      // The last part overlaps the one before, so that it has enough columns.
      const int64_t begin = std::min(c, std::max(now.columns() - at_once, int64_t{0}));
      const int64_t row = s * now.columns() + begin;
      kernel({.dst = dst + s * loops.strip.loop().dst_step + begin * column.dst_step,
              .src = now.first() + row * unit,
              .inner = {now.run_length(), unit, now.pitch()},
              .outer = {std::min(at_once, now.columns() - begin), column.dst_step, unit},
              .prefetched = next == nullptr ? PrefetchedRows{} : next->Prefetched(rows)},
             now.columns_before(row));
      if (next != nullptr) next->Copy(rows);
    }
  }
}

// Whether all iterations of the loop read from the same cache sets.
bool Collides(const Loop& loop) { return loop.src_step % kSetPeriod == 0; }

// The loop that continues a row in dst; 0 if there is none.
int FindRun(const CopyPlan& plan) {
  return plan.FindLoop(2, &Loop::dst_step, plan.loops[0].count * plan.unit());
}

int64_t BytesOfHalf(int64_t unit, const CopyTuning& tuning) {
  return (kMostLines + 1) * kLine / unit * Half::PitchFor(tuning);
}

}  // namespace

std::unique_ptr<char[]> BufferForRuns(const CopyPlan& plan, const CopyTuning& tuning,
                                      bool off_lines) {
  if (tuning.packed_bytes == 0) return nullptr;
  const int64_t row = plan.loops[0].count * plan.unit();
  if (row > kShortRow || row % kLine != 0) return nullptr;
  const int64_t rows_before = off_lines ? kLine / plan.unit() : 0;
  if (rows_before + plan.loops[0].count <= kWays) return nullptr;
  const int run = FindRun(plan);
  if (run == 0 || !Collides(plan.loops[0]) || !Collides(plan.loops[run])) return nullptr;
  return std::unique_ptr<char[]>(
      new (std::nothrow) char[2 * BytesOfHalf(plan.unit(), tuning) + kLine]);
}

void RunPacked(const CopyPlan& plan, char* dst, const char* src, const CopyTuning& tuning,
               std::optional<int64_t> before, TransposeKernel kernel, char* buffer) {
  const int64_t unit = plan.unit();
  const int run = FindRun(plan);
  const int strip = plan.FindLoop(2, &Loop::src_step, plan.loops[1].count * unit);
  const Loops loops(plan, run, strip == run ? 0 : strip, tuning.packed_bytes);
  char* const lines = buffer + -reinterpret_cast<uintptr_t>(buffer) % kLine;
  Half halves[] = {{loops, unit, before, tuning, lines},
                   {loops, unit, before, tuning, lines + BytesOfHalf(unit, tuning)}};
  Half *now = &halves[0], *next = &halves[1];
  const int64_t at_once = kAtOnce / unit;
  const bool keeps = before.has_value() && loops.column.size() % at_once == 0 &&
                     loops.column.loop().count % loops.column.size() == 0;
  const CarriedLines carry(loops.around, Loops::kRun,
                           keeps ? loops.column.size() * loops.strip.size() : 0);
  Odometer at(loops.around, loops.rank);
  now->Start(at, src, carry.At(at));
  now->Copy(now->rows());
  for (bool more = true; more; std::swap(now, next)) {
    char* const to = dst + at.dst;
    more = at.Next();
    if (more) next->Start(at, src, carry.At(at));
    Write(*now, more ? next : nullptr, to, loops, unit, kernel);
    if (more) next->Copy(next->rows());
  }
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
