#include "dovetail/devices/cpu/copy/testing/copy_case.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

Reach ReachOf(const std::vector<Loop>& loops, int64_t element, int64_t Loop::* step) {
  int64_t low = 0, high = 0;
  for (const Loop& loop : loops) {
    if (loop.count == 0) return {};
    (loop.*step < 0 ? low : high) += (loop.count - 1) * (loop.*step);
  }
  return {high - low + element, -low};
}

int64_t RandomSize(Random* random) {
  switch ((*random)() % 6) {
    case 0:
      return Pick(random, 1, 3);
    case 1:
      return Pick(random, 1, 20);
    case 2:
      return Pick(random, 1, 90);
    default:
      return Pick(random, 1, 9);
  }
}

// The steps of a permuted dense tensor, with or without gaps, each with a sign.
void ChooseSteps(CopyCase* copy, int64_t Loop::* step, bool repeats, Random* random) {
  std::vector<int> order(copy->loops.size());
  std::iota(order.begin(), order.end(), 0);
  if (!OneIn(random, 3)) std::shuffle(order.begin(), order.end(), *random);
  const bool gaps = OneIn(random, 2);
  int64_t next = copy->element;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    Loop& loop = copy->loops[*it];
    if (gaps && OneIn(random, 3)) next *= Pick(random, 1, 4);
    if (gaps && OneIn(random, 4)) next += copy->element * Pick(random, 0, 2);
    loop.*step = OneIn(random, 5) ? -next : next;
    if (repeats && OneIn(random, 7)) loop.*step = 0;
    next *= std::max<int64_t>(loop.count, 1);
  }
}

// Planes of pixels, or reversed rows.
CopyCase DeinterleavedCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 16 / e, 160), m = Pick(random, 1, 100), outer = Pick(random, 1, 3);
  const int64_t gap = e * Pick(random, 0, 5), planes = Pick(random, 2, 4);
  if (OneIn(random, 4)) return {e, {{m, n * e + gap, n * e}, {n, e, -e}}};
  const int64_t wanted = Pick(random, 1, planes), count = OneIn(random, 4) ? 80 * n : n;
  return {e,
          {{outer, wanted * (count * e + gap), count * planes * e},
           {wanted, count * e + gap, e},
           {count, e, OneIn(random, 3) ? -planes * e : planes * e}}};
}

// Pixels of planes.
CopyCase InterleavedCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 16 / e, 160), outer = Pick(random, 1, 3);
  const int64_t gap = e * Pick(random, 0, 5), planes = Pick(random, 2, 4);
  const int64_t count = OneIn(random, 4) ? 80 * n : n;
  return {e,
          {{outer, count * planes * e, planes * (count * e + gap)},
           {count, planes * e, OneIn(random, 3) ? -e : e},
           {planes, e, count * e + gap}}};
}

// Pixels whose channels are permuted, dropped, repeated or inserted.
CopyCase PixelsCase(Random* random) {
  const int64_t unit = int64_t{1} << Pick(random, 0, 3);
  const int64_t m = Pick(random, 16 / unit, 100), outer = Pick(random, 1, 3);
  const int64_t gap = unit * Pick(random, 0, 5);
  if (unit < 8 && OneIn(random, 4)) {
    const int64_t back = unit * Pick(random, 2, 16 / unit - 1);
    return {unit, {{outer, m * unit + gap, m * back + gap}, {m, unit, -back}}};
  }
  const int64_t a = Pick(random, 2, 16 / unit), most = (16 - unit) / (a - 1) / unit;
  const int64_t step = unit * Pick(random, -most, most);
  const int64_t next = unit * Pick(random, 1, 64 / unit) * (OneIn(random, 4) ? -1 : 1);
  const int64_t dst_next = OneIn(random, 3) ? Pick(random, a * unit, 16) : a * unit;
  return {unit,
          {{outer, m * dst_next + gap, m * std::abs(next) + gap},
           {m, dst_next, next},
           {a, unit, step}}};
}

// Rows with gaps in src, of any few bytes, forwards or back.
CopyCase GappedCase(Random* random) {
  const int64_t unit = int64_t{1} << Pick(random, 0, 3);
  const int64_t m = Pick(random, 1, 100), outer = Pick(random, 1, 3);
  const int64_t gap = unit * Pick(random, 0, 5);
  const int64_t n = Pick(random, std::max<int64_t>(64 / unit, 16), 300);
  const int64_t widest = WidestGap(unit);
  const int64_t step =
      OneIn(random, 3) ? Pick(random, unit + 1, widest) : unit * Pick(random, 2, widest / unit);
  return {unit,
          {{outer, m * (n * unit + gap), m * (n * step + gap)},
           {m, n * unit + gap, n * step + gap},
           {n, unit, OneIn(random, 4) ? -step : step}}};
}

// Rows with gaps in dst, of a row or of one repeated element.
CopyCase ScatteredCase(Random* random) {
  const int64_t unit = int64_t{1} << Pick(random, 0, 3);
  const int64_t m = Pick(random, 1, 100), outer = Pick(random, 1, 3);
  const int64_t gap = unit * Pick(random, 0, 5), n = Pick(random, 64, 300);
  const int64_t step = unit * Pick(random, 2, WidestGap(unit) / unit);
  const int64_t pitch = n * step + gap;
  const int64_t src_step = OneIn(random, 4) ? 0 : unit * Pick(random, 1, 2);
  if (src_step == 0 && OneIn(random, 2)) return {unit, {{m, pitch, 0}, {n, step, 0}}};
  return {unit,
          {{outer, m * pitch, m * (2 * n * unit + gap)},
           {m, pitch, 2 * n * unit + gap},
           {n, step, src_step}}};
}

}  // namespace

CopyPlan CopyCase::Plan() const {
  CopyPlan plan;
  for (const Loop& loop : loops) plan.Add(loop);
  plan.Finish(element);
  return plan;
}

Reach CopyCase::DstReach() const { return ReachOf(loops, element, &Loop::dst_step); }
Reach CopyCase::SrcReach() const { return ReachOf(loops, element, &Loop::src_step); }

void CopyCase::Naive(char* dst, const char* src) const {
  std::vector<int64_t> turn(loops.size(), 0);
  for (const Loop& loop : loops) {
    if (loop.count == 0) return;
  }
  while (true) {
    int64_t to = 0, from = 0;
    for (size_t i = 0; i < loops.size(); ++i) {
      to += turn[i] * loops[i].dst_step;
      from += turn[i] * loops[i].src_step;
    }
    std::memcpy(dst + to, src + from, element);
    auto i = static_cast<int64_t>(loops.size()) - 1;
    for (; i >= 0 && ++turn[i] == loops[i].count; --i) turn[i] = 0;
    if (i < 0) return;
  }
}

std::string CopyCase::ToString() const {
  std::string text = "elements of " + std::to_string(element) + " bytes, (count, dst, src):";
  for (const Loop& loop : loops) {
    text += " (" + std::to_string(loop.count) + ", " + std::to_string(loop.dst_step) + ", " +
            std::to_string(loop.src_step) + ")";
  }
  return text;
}

CopyCase RandomCase(Random* random) {
  constexpr int64_t kElements[] = {1, 2, 4, 8, 16, 3, 12, 24, 32};
  constexpr int64_t kMost = 8000;
  CopyCase copy;
  copy.element = kElements[Pick(random, 0, OneIn(random, 2) ? 8 : 4)];
  int64_t count = 1;
  for (int64_t rank = Pick(random, 0, 5); rank > 0; --rank) {
    const int64_t size = OneIn(random, 60) ? 0 : RandomSize(random);
    copy.loops.push_back({count * size <= kMost ? size : 1, 0, 0});
    count *= std::max<int64_t>(copy.loops.back().count, 1);
  }
  ChooseSteps(&copy, &Loop::dst_step, false, random);
  ChooseSteps(&copy, &Loop::src_step, true, random);
  return copy;
}

CopyCase CaseFor(CopyKernel kernel, Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t lane = 16 / e;
  const int64_t n = Pick(random, lane, 160), m = Pick(random, lane, 100);
  const int64_t outer = Pick(random, 1, 3);
  const int64_t gap = e * Pick(random, 0, 5);  // after each row
  switch (kernel) {
    case CopyKernel::kRows:
      return {e,
              {{outer, 50 * n * (n * e + gap), n * e}, {n, n * e + gap, outer * n * e}, {n, e, e}}};
    case CopyKernel::kFill:
      return {e, {{m, n * e + gap, e}, {n, e, 0}}};
    case CopyKernel::kTranspose: {
      const int64_t dst_pitch = n * e + gap, src_pitch = OneIn(random, 3) ? 4096 : m * e + gap;
      return {e,
              {{outer, m * dst_pitch, n * src_pitch},
               {m, dst_pitch, OneIn(random, 3) ? -e : e},
               {n, e, OneIn(random, 3) ? -src_pitch : src_pitch}}};
    }
    case CopyKernel::kTransposeGaps: {
      const int64_t unit = int64_t{1} << Pick(random, 0, 2),
                    step = Pick(random, 2, 8 / unit) * unit;
      const int64_t rows = Pick(random, 16 / step, 60), columns = Pick(random, 16 / unit, 200);
      const int64_t src_pitch = OneIn(random, 3) ? 4096 : rows * step + gap;
      const int64_t plane = rows * (columns * unit + gap);
      const bool all = OneIn(random, 3);  // the planes that lie in each other's gaps
      return {unit,
              {{all ? step / unit : outer, plane, all ? unit : columns * src_pitch},
               {rows, columns * unit + gap, OneIn(random, 3) ? -step : step},
               {columns, unit, OneIn(random, 3) ? -src_pitch : src_pitch}}};
    }
    case CopyKernel::kTransposeGroups: {
      const int64_t unit = int64_t{1} << Pick(random, 0, 2);
      const int64_t elements = unit == 4 ? 3 : 2 * Pick(random, 1, 7 / unit) + 1;
      const int64_t group = elements * unit;
      const int64_t step = group + (OneIn(random, 3) ? unit * Pick(random, 1, 3) : 0);
      const int64_t rows = Pick(random, 8, 90), columns = Pick(random, 16, 150);
      const int64_t src_pitch = OneIn(random, 4) ? 4096 : rows * step + gap;
      const int64_t dst_pitch = columns * group + gap;
      return {unit,
              {{outer, rows * dst_pitch, columns * src_pitch},
               {rows, dst_pitch, OneIn(random, 3) ? -step : step},
               {columns, group, OneIn(random, 3) ? -src_pitch : src_pitch},
               {elements, unit, unit}}};
    }
    case CopyKernel::kPermute: {
      CopyCase (*const cases[])(Random*) = {DeinterleavedCase, InterleavedCase, PixelsCase,
                                            GappedCase, ScatteredCase};
      return cases[Pick(random, 0, 4)](random);
    }
    case CopyKernel::kElements:
    case CopyKernel::kNothing:
      break;
  }
  return {e, {{m, 2 * n * e + gap, e}, {n, 2 * e, m * e}}};
}

const std::vector<Way>& AllWays() {
  static const auto* const ways = [] {
    auto* all = new std::vector<Way>;
    for (SimdLevel level : kAllSimdLevels) {
      if (KernelsOf(level) == nullptr) continue;
      Kernels kernels = *KernelsOf(level);
      const std::string name = "level " + std::to_string(static_cast<int>(level));
      all->push_back({kernels, INT64_MAX, name + " cached"});
      for (size_t i = 0; i < std::size(kAllTunings); ++i) {
        kernels.tuning = *kAllTunings[i];
        all->push_back({kernels, 0, name + " streamed, tuning " + std::to_string(i)});
      }
    }
    return all;
  }();
  return *ways;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
