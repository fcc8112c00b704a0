#include "dovetail/python/module/descriptors/run_pairs.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/internal/threads/interruption.h"

namespace dovetail::python {
namespace {

using internal_loop_nest::ElementLoop;
using internal_loop_nest::ElementOdometer;
using internal_loop_nest::Loop;
using internal_loop_nest::NormalForm;
using internal_loop_nest::Normalize;
using internal_loop_nest::Odometer;

using ElementLoops = absl::InlinedVector<ElementLoop, 8>;

constexpr size_t kRunsPerQuestion = size_t{1} << 18;  // about 2 ms

// Whether every offset in bits, and the sum of a few, fits an int64.
bool Fits(const Layout& layout, int64_t step_bits) {
  const int64_t most = std::numeric_limits<int64_t>::max() / 8 / step_bits;
  const Extent extent = layout.extent();
  return extent.lowest >= -most && extent.highest <= most && layout.num_elements() <= most;
}

// The loops over the elements in row-major order, innermost first. Steps in bits.
ElementLoops LoopsOf(const Layout& layout, int64_t step_bits) {
  RunLoops loops;
  for (int dim = layout.rank() - 1; dim >= 0; --dim) {
    loops.push_back({layout.shape(dim), WrappingMultiply(layout.stride(dim), step_bits), 0});
  }
  Loop::Offsets start;  // stays 0: the order is kept
  const int rank = Normalize<NormalForm{.order = NormalForm::Order::kAsGiven}>(
      loops.data(), static_cast<int>(loops.size()), &start);
  ElementLoops result;
  for (int i = 0; i < rank; ++i) result.push_back({loops[i].count, loops[i].dst_step});
  return result;
}

// Takes loops off both sides that go through the same elements, from the innermost on, and returns
// them. What is left on a side begins with a loop whose count has no factor in common with the
// other side's, or is empty.
RunLoops TakeCommonLoops(ElementLoops* dst, ElementLoops* src) {
  RunLoops common;
  size_t i = 0, j = 0;
  const auto divide = [](ElementLoops* loops, size_t* at, int64_t count) {
    ElementLoop& loop = (*loops)[*at];
    loop = {loop.count / count, WrappingMultiply(loop.step, count)};
    if (loop.count == 1) ++*at;
  };
  while (i < dst->size() && j < src->size()) {
    const int64_t count = std::gcd((*dst)[i].count, (*src)[j].count);
    if (count == 1) break;
    common.push_back({count, (*dst)[i].step, (*src)[j].step});
    divide(dst, &i, count);
    divide(src, &j, count);
  }
  dst->erase(dst->begin(), dst->begin() + static_cast<ptrdiff_t>(i));
  src->erase(src->begin(), src->begin() + static_cast<ptrdiff_t>(j));
  return common;
}

// Whether each iteration of the nest begins in dst behind the end of the one before it.
bool IsAscending(const RunLoops& loops, int64_t run) {
  int64_t end = run;
  for (const Loop& loop : loops) {
    if (loop.dst_step < end) return false;
    end += (loop.count - 1) * loop.dst_step;
  }
  return true;
}

// The runs of an ascending nest, where those that continue each other on both sides count as one.
int64_t CountRuns(const RunLoops& loops, int64_t run) {
  int64_t count = 1;
  Loop::Offsets inner;  // of the last iteration of the loops inside
  for (const Loop& loop : loops) {
    const bool continues = loop.dst_step - inner.dst == run && loop.src_step - inner.src == run;
    count = count * loop.count - (continues ? loop.count - 1 : 0);
    inner.Move(loop, loop.count - 1);
  }
  return count;
}

// Appends a run, or makes the last one longer by it.
void Append(const RunPair& run, std::vector<RunPair>* runs) {
  if (!runs->empty()) {
    RunPair& last = runs->back();
    if (last.dst + last.nbytes == run.dst && last.src + last.nbytes == run.src) {
      last.nbytes += run.nbytes;
      return;
    }
  }
  runs->push_back(run);
}

absl::Status Overlap() {
  return absl::InvalidArgumentError(
      "Elements of the receiving tensor share memory; receive into a tensor in which each element "
      "has its own, such as a copy.");
}

// Lists the runs of the common loops at each of the other loops' iterations. Lengths in bits here.
// common.count is their number, or 0 if it is not known.
absl::StatusOr<std::vector<RunPair>> ListRuns(const RunPairs& common, const ElementLoops& dst,
                                              const ElementLoops& src) {
  std::vector<RunPair> runs;
  runs.reserve(static_cast<size_t>(common.count));
  ElementOdometer to(dst.data(), static_cast<int>(dst.size()));
  ElementOdometer from(src.data(), static_cast<int>(src.size()));
  size_t next_question = kRunsPerQuestion;
  do {
    Odometer at(common.loops.data(), static_cast<int>(common.loops.size()));
    do {
      Append({common.start.dst + to.offset + at.dst, common.start.src + from.offset + at.src,
              common.nbytes},
             &runs);
      if (runs.size() >= next_question) {
        if (ScopedInterruption::IsAsked()) return absl::CancelledError("interrupted");
        next_question += kRunsPerQuestion;
      }
    } while (at.Next());
    from.Next();
  } while (to.Next());
  const auto is_before = [](const RunPair& a, const RunPair& b) { return a.dst < b.dst; };
  if (!std::is_sorted(runs.begin(), runs.end(), is_before)) {
    std::sort(runs.begin(), runs.end(), is_before);
    std::vector<RunPair> merged;
    for (const RunPair& run : runs) Append(run, &merged);
    runs = std::move(merged);
  }
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].dst < runs[i - 1].dst + runs[i - 1].nbytes) return Overlap();
  }
  return runs;
}

// From bits to bytes. False if the number is no multiple of 8.
bool ToBytes(int64_t* value) {
  if (*value % 8 != 0) return false;
  *value /= 8;
  return true;
}

bool ToBytes(RunPairs* pairs) {
  bool whole = ToBytes(&pairs->nbytes) && ToBytes(&pairs->start.dst) && ToBytes(&pairs->start.src);
  for (Loop& loop : pairs->loops) {
    whole = whole && ToBytes(&loop.dst_step) && ToBytes(&loop.src_step);
  }
  for (RunPair& run : pairs->list) {
    whole = whole && ToBytes(&run.dst) && ToBytes(&run.src) && ToBytes(&run.nbytes);
  }
  return whole;
}

}  // namespace

absl::StatusOr<RunPairs> PairRuns(const Layout& dst, const Layout& src, int64_t step_bits,
                                  bool lists) {
  if (dst.num_elements() != src.num_elements() || dst.num_elements() == 0 || step_bits <= 0) {
    return absl::InvalidArgumentError("The layouts have no or different numbers of elements.");
  }
  if (!Fits(dst, step_bits) || !Fits(src, step_bits)) {
    return absl::InvalidArgumentError("The strides reach beyond what can be addressed.");
  }
  ElementLoops dst_loops = LoopsOf(dst, step_bits), src_loops = LoopsOf(src, step_bits);
  if (std::any_of(dst_loops.begin(), dst_loops.end(),
                  [](const ElementLoop& loop) { return loop.step == 0; })) {
    return Overlap();
  }
  RunPairs pairs;
  pairs.loops = TakeCommonLoops(&dst_loops, &src_loops);
  pairs.loops.resize(static_cast<size_t>(Normalize<NormalForm{}>(
      pairs.loops.data(), static_cast<int>(pairs.loops.size()), &pairs.start)));
  pairs.nbytes = step_bits;
  if (!pairs.loops.empty()) {
    const Loop& inner = pairs.loops.front();
    if (inner.dst_step == step_bits && inner.src_step == step_bits) {
      pairs.nbytes *= inner.count;
      pairs.loops.erase(pairs.loops.begin());
    }
  }
  const bool is_nest = dst_loops.empty() && IsAscending(pairs.loops, pairs.nbytes);
  if (is_nest) pairs.count = CountRuns(pairs.loops, pairs.nbytes);
  if (lists || !is_nest) {
    absl::StatusOr<std::vector<RunPair>> list = ListRuns(pairs, dst_loops, src_loops);
    if (!list.ok()) return list.status();
    pairs = {.count = static_cast<int64_t>(list->size()), .list = *std::move(list)};
  }
  if (!ToBytes(&pairs)) {
    return absl::InvalidArgumentError(
        "A run of packed elements begins or ends inside a byte; copy the tensors first, as in "
        "t.copy(), or move whole bytes.");
  }
  return pairs;
}

}  // namespace dovetail::python
