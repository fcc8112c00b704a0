#include "dovetail/devices/cpu/copy/gathered_runs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "dovetail/devices/cpu/copy/cache_sets.h"
#include "dovetail/devices/cpu/copy/odometer.h"
#include "dovetail/devices/cpu/copy/parted_loop.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

// Rows of dst that are written better with what continues them.
constexpr int64_t kShortRow = 2 * kLine;
// What is copied of each row of src at a time; what of that is written between two parts of the
// next; and the rows that are asked for ahead.
constexpr int64_t kOfSrcRow = 8 * kLine;
constexpr int64_t kAtOnce = kLine / 2;
constexpr int64_t kRowsAhead = 8;

// The loops of a plan as they are gone through here. The run is loops[0] and what continues it in
// dst; of src, loops[1] and what continues that there.
class Loops {
 public:
  Loops(const CopyPlan& plan, int run, int strip)
      : row(plan.loops[0]),
        column(plan.loops[1], kOfSrcRow / plan.unit()),
        run(plan.loops[run], kMostLines * kLine / (row.count * plan.unit())),
        strip(strip == 0 ? Loop{1, 0, 0} : plan.loops[strip],
              std::max<int64_t>(kOfSrcRow / (plan.loops[1].count * plan.unit()), 1)) {
    around[0] = column.Parts();
    around[1] = this->strip.Parts();
    around[2] = this->run.Parts();
    for (int i = 2; i < plan.rank; ++i) {
      if (i != run && i != strip) around[rank++] = plan.loops[i];
    }
  }

  Loop row;
  PartedLoop column, run, strip;
  Loop around[CopyPlan::kMaxLoops + 1];
  int rank = 3;
};

// One half of the buffer, and what it is filled with: some rows of src, one after the other, the
// first of them those of the columns before.
class Half {
 public:
  static constexpr int64_t kPitch = kOfSrcRow + kLine;  // an odd number of lines

  static int64_t BytesFor(int64_t rows) { return rows * kPitch; }

  Half(const Loops& loops, int64_t unit, std::optional<int64_t> before, char* bytes)
      : loops_(loops), unit_(unit), before_(before), bytes_(bytes) {}

  // What is at `at` of the loops around comes into the buffer, by calls of Copy.
  void Start(const Odometer& at, const char* src) {
    src_ = src + at.src;
    columns_ = loops_.column.TurnsOf(at.turn(0));
    strips_ = loops_.strip.TurnsOf(at.turn(1));
    rows_before_ = before_ ? kLine / unit_ : 0;
    rows_ = rows_before_ + loops_.run.TurnsOf(at.turn(2)) * loops_.row.count;
    copied_ = 0;
  }

  // Copies up to so many rows more.
  void Copy(int64_t rows) {
    const int64_t end = std::min(copied_ + rows, rows_);
    for (; copied_ < end; ++copied_) {
      if (copied_ + kRowsAhead < rows_) AskFor(Row(copied_ + kRowsAhead), bytes());
      std::memcpy(bytes_ + copied_ * kPitch, Row(copied_), bytes());
    }
  }

  int64_t rows() const { return rows_; }
  int64_t bytes() const { return strips_ * columns_ * unit_; }
  int64_t columns() const { return columns_; }
  int64_t strips() const { return strips_; }
  // That of the run's first element.
  const char* first() const { return bytes_ + rows_before_ * kPitch; }
  int64_t run_length() const { return rows_ - rows_before_; }

 private:
  const char* Row(int64_t i) const {
    if (i < rows_before_) return src_ + *before_ + i * loops_.row.src_step;
    i -= rows_before_;
    return src_ + i % loops_.row.count * loops_.row.src_step +
           i / loops_.row.count * loops_.run.loop.src_step;
  }

  const Loops& loops_;
  const int64_t unit_;
  const std::optional<int64_t> before_;
  char* const bytes_;
  const char* src_ = nullptr;
  int64_t columns_ = 0;
  int64_t strips_ = 0;
  int64_t rows_before_ = 0;
  int64_t rows_ = 0;
  int64_t copied_ = 0;
};

// Writes what is in `now`, and fills `next` meanwhile.
void Write(const Half& now, Half* next, char* dst, const Loops& loops, int64_t unit,
           TransposeKernel kernel) {
  const Loop& column = loops.column.loop;
  const int64_t at_once = kAtOnce / unit;
  const int64_t parts = now.strips() * ((now.columns() + at_once - 1) / at_once);
  for (int64_t s = 0; s < now.strips(); ++s) {
    for (int64_t c = 0; c < now.columns(); c += at_once) {
      // (So that the last has enough columns.)
      const int64_t begin = std::min(c, std::max(now.columns() - at_once, int64_t{0}));
      kernel({.dst = dst + s * loops.strip.loop.dst_step + begin * column.dst_step,
              .src = now.first() + (s * now.columns() + begin) * unit,
              .inner = {now.run_length(), unit, Half::kPitch},
              .outer = {std::min(at_once, now.columns() - begin), column.dst_step, unit}},
             {.at = -kLine / unit * Half::kPitch});
      if (next != nullptr) next->Copy((next->rows() + parts - 1) / parts);
    }
  }
}

// Whether turns of the loop read the same sets of a cache.
bool Collides(const Loop& loop) { return loop.src_step % kSetPeriod == 0; }

}  // namespace

bool RunGathered(const CopyPlan& plan, char* dst, const char* src, std::optional<int64_t> before,
                 TransposeKernel kernel) {
  const int64_t unit = plan.unit(), row = plan.loops[0].count * unit;
  if (row > kShortRow || row % kLine != 0 || plan.loops[0].count <= kWays) return false;
  const int run = plan.FindLoop(2, &Loop::dst_step, row);
  if (run == 0 || !Collides(plan.loops[0]) || !Collides(plan.loops[run])) return false;
  const int strip = plan.FindLoop(2, &Loop::src_step, plan.loops[1].count * unit);
  const Loops loops(plan, run, strip == run ? 0 : strip);
  const int64_t rows = (kMostLines + 1) * kLine / unit;
  const std::unique_ptr<char[]> buffer(new (std::nothrow) char[2 * Half::BytesFor(rows) + kLine]);
  if (buffer == nullptr) return false;
  char* const lines = buffer.get() + -reinterpret_cast<uintptr_t>(buffer.get()) % kLine;
  Half halves[] = {{loops, unit, before, lines},
                   {loops, unit, before, lines + Half::BytesFor(rows)}};
  Half *now = &halves[0], *next = &halves[1];
  Odometer at(loops.around, loops.rank);
  now->Start(at, src);
  now->Copy(now->rows());
  for (bool more = true; more; std::swap(now, next)) {
    char* const to = dst + at.dst;
    more = at.Next();
    if (more) next->Start(at, src);
    Write(*now, more ? next : nullptr, to, loops, unit, kernel);
    if (more) next->Copy(next->rows());
  }
  return true;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
