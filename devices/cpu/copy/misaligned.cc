#include "dovetail/devices/cpu/copy/misaligned.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/packed_runs.h"
#include "dovetail/devices/cpu/copy/placed_plan.h"
#include "dovetail/devices/cpu/copy/strips.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The shortest row, or run of rows that continue each other, that is worth the cost of its ends.
constexpr int64_t kShortest = 16 * kLine;

// `before` is the source offset of the columns before the first column of a row. With a buffer,
// runs are packed there.
void RunMisaligned(const PlacedPlan& part, const Kernels& kernels, bool from_memory, int64_t before,
                   char* buffer = nullptr) {
  const CopyPlan& plan = part.plan;
  const MisalignedKernel kernel = kernels.misaligned[plan.unit_log2];
  if (buffer != nullptr) {
    return RunPacked(plan, part.dst, part.src, kernels.tuning, before, kernel, buffer);
  }
  // (A block holds a whole short row, so that its source is read once, including the line that it
  // shares with the next row.)
  RunInStrips(plan, part.dst, part.src, kernels.tuning, from_memory, before, kernel,
              kMostLines * kLine);
}

bool IsPossible(const CopyPlan& plan, const char* dst, const Kernels& kernels) {
  return plan.kernel == CopyKernel::kTranspose && plan.unit() >= kernels.tuning.joined_unit &&
         kernels.misaligned[plan.unit_log2] != nullptr && !plan.HasFewPlanes() &&
         plan.RowsBeginAt(plan.unit(), dst);
}

// The loop that continues a run of `run` bytes in dst; 0 if there is none.
int FindNext(const CopyPlan& plan, int64_t run) { return plan.FindLoop(1, &Loop::dst_step, run); }

int64_t BytesOfRun(const CopyPlan& plan) {
  int64_t run = plan.loops[0].count * plan.unit();
  for (int next; (next = FindNext(plan, run)) > 0;) run *= plan.loops[next].count;
  return run;
}

}  // namespace

bool WriteMisaligned(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     bool from_memory) {
  const Loop& row = plan.loops[0];
  if (!IsPossible(plan, dst, kernels) || row.count * plan.unit() < kShortest) return false;
  // The misaligned kernel writes all whole lines of columns except the first. Both ends go through
  // the cache and overlap what the kernel writes.
  const int64_t line = kLine / plan.unit();
  const int64_t body = row.count / line * line - line;
  PlacedPlan first{plan, dst, src}, middle = first, last = first;
  first.plan.loops[0].count = line;
  first.RunCached(kernels);
  middle.plan.loops[0].count = body;
  middle.Skip(0, line);
  RunMisaligned(middle, kernels, from_memory, -line * row.src_step);
  last.plan.loops[0].count = row.count - body;
  last.Skip(0, body);
  last.RunCached(kernels);
  return true;
}

bool WriteContinued(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                    bool from_memory) {
  const Loop& row = plan.loops[0];
  const int64_t unit = plan.unit(), line = kLine / unit;
  if (!IsPossible(plan, dst, kernels) || row.count < line) return false;
  if (FindNext(plan, row.count * unit) == 0 || BytesOfRun(plan) < kShortest) return false;
  PlacedPlan rest{plan, dst, src};
  const auto buffer = BufferForRuns(plan, kernels.tuning, true);
  // Runs that continue each other. Each run's first line straddles the previous run. `back` is the
  // source offset of that run's last columns. The previous run is the previous iteration of the
  // first loop that continues the run; at that loop's first iteration, of the next such loop, and
  // so on.
  struct {
    int64_t bytes, back;
    void Add(const Loop& loop) {
      bytes *= loop.count;
      back += (loop.count - 1) * loop.src_step;
    }
  } run{row.count * unit, (row.count - line) * row.src_step}, one = run;
  // Copies all iterations of loop i except the first, which remains in `rest`.
  auto join = [&](int i, int64_t back) {
    PlacedPlan joined = rest;
    joined.plan.loops[i].count -= 1;
    joined.Skip(i, 1);
    RunMisaligned(joined, kernels, from_memory, back - joined.plan.loops[i].src_step, buffer.get());
    rest.plan.loops[i].count = 1;
  };
  // With a buffer, the first such loop is part of a packed run, so it is joined last.
  if (buffer != nullptr) run.Add(plan.loops[FindNext(plan, run.bytes)]);
  for (int i; (i = FindNext(rest.plan, run.bytes)) > 1;) {
    const Loop next = rest.plan.loops[i];
    join(i, run.back);
    run.Add(next);
  }
  if (buffer != nullptr) join(FindNext(rest.plan, one.bytes), one.back);
  if (FindNext(rest.plan, run.bytes) == 1 && (rest.plan.loops[1].count - 1) * unit >= kLaneBytes) {
    const Loop next = rest.plan.loops[1];
    join(1, run.back);
    run.Add(next);
  }
  // The very first row, and the last columns of all.
  rest.RunCached(kernels);
  rest.plan.loops[0].count = line;
  rest.dst += run.bytes - kLine;
  rest.src += run.back;
  rest.RunCached(kernels);
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
