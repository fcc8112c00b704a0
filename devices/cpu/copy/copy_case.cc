#include "dovetail/devices/cpu/copy/copy_case.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

int64_t Pick(Random* random, int64_t lowest, int64_t highest) {
  return lowest + static_cast<int64_t>((*random)() % (highest - lowest + 1));
}

bool OneIn(Random* random, int n) { return (*random)() % n == 0; }

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
  const int64_t planes = Pick(random, 2, 4);
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
    case CopyKernel::kTakeApart: {
      if (OneIn(random, 4)) return {e, {{m, n * e + gap, n * e}, {n, e, -e}}};
      const int64_t wanted = Pick(random, 1, planes), count = OneIn(random, 4) ? 40 * n : n;
      return {e,
              {{outer, wanted * (count * e + gap), count * planes * e},
               {wanted, count * e + gap, e},
               {count, e, OneIn(random, 3) && wanted > 1 ? -planes * e : planes * e}}};
    }
    case CopyKernel::kPutTogether: {
      const int64_t count = OneIn(random, 4) ? 40 * n : n;
      return {e,
              {{outer, count * planes * e, planes * (count * e + gap)},
               {count, planes * e, OneIn(random, 3) ? -e : e},
               {planes, e, count * e + gap}}};
    }
    case CopyKernel::kRegroup: {
      const int64_t unit = int64_t{1} << Pick(random, 0, 3);
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
    case CopyKernel::kCollect: {
      const int64_t unit = int64_t{1} << Pick(random, 0, 3);
      const int64_t n =
          Pick(random, std::max<int64_t>(64 / unit, 16), unit < 8 && OneIn(random, 2) ? 300 : 127);
      const int64_t step = unit * Pick(random, n < 128 ? 2 : 5, WidestGap(unit) / unit);
      return {unit,
              {{outer, m * (n * unit + gap), m * n * step + 2 * gap},
               {m, n * unit + gap, n * step + gap},
               {n, unit, step}}};
    }
    case CopyKernel::kSpread: {
      const int64_t unit = std::min<int64_t>(e, 8), n = Pick(random, 64, 300);
      const int64_t step = unit * Pick(random, 2, WidestGap(unit) / unit);
      const int64_t pitch = n * step + gap;
      const int64_t src_step = OneIn(random, 4) ? 0 : unit;
      return {unit,
              {{outer, m * pitch, m * (n * unit + gap)},
               {m, pitch, n * unit + gap},
               {n, step, src_step}}};
    }
    case CopyKernel::kElements:
    case CopyKernel::kNothing:
      break;
  }
  return {e, {{m, 2 * n * e + gap, e}, {n, 2 * e, m * e}}};
}

namespace {

// With n elements in a row of dst, and `gap` bytes after it.
CopyCase TransposeInStrips(int64_t e, int64_t n, int64_t gap, Random* random) {
  const int64_t line = 64 / e, strip = (OneIn(random, 20) ? 16384 : 4096) / e;
  // Up to some strips, and sometimes a few more.
  int64_t m = Pick(random, 16 / e, 3 * line);
  if (OneIn(random, 4)) m = strip * Pick(random, 1, 2) + Pick(random, -1, 1);
  const int64_t dst_pitch = n * e + gap;
  const int64_t src_pitch = OneIn(random, 3) ? 8192 : m * e + Pick(random, 0, 70);
  CopyCase copy{e,
                {{m, OneIn(random, 4) ? -dst_pitch : dst_pitch, e},
                 {n, e, OneIn(random, 4) ? -src_pitch : src_pitch}}};
  if (OneIn(random, 2) && m < strip) {
    // Further dimensions, of which some continue the rows of src, in any order.
    const int64_t a = Pick(random, 2, 6), b = Pick(random, 2, 3);
    const bool joined = OneIn(random, 2);
    if (joined) copy.loops[1].src_step = a * m * e;
    copy.loops.insert(copy.loops.begin(), {a, m * dst_pitch, joined ? m * e : n * 8192});
    if (OneIn(random, 2)) copy.loops.insert(copy.loops.begin(), {b, a * m * dst_pitch, 0});
    if (OneIn(random, 2)) std::swap(copy.loops[0], copy.loops[1]);
  }
  return copy;
}

}  // namespace

CopyCase LinesCase(CopyKernel kernel, Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t line = 64 / e, outer = Pick(random, 1, 3);
  const int64_t n = OneIn(random, 2) ? line * Pick(random, 1, 7) : Pick(random, line, 9 * line);
  const int64_t pitch = (n * e + 63) / 64 * 64 + 64 * Pick(random, 0, 1);
  if (kernel == CopyKernel::kTranspose) return TransposeInStrips(e, n, pitch - n * e, random);
  const int64_t planes = Pick(random, 2, 4);
  if (kernel == CopyKernel::kPutTogether) {
    return {e, {{outer, planes * pitch, planes * n * e}, {n, planes * e, e}, {planes, e, n * e}}};
  }
  if (OneIn(random, 4)) return {e, {{outer, pitch, n * e}, {n, e, -e}}};
  const int64_t stride = Pick(random, planes, 4);
  return {e, {{outer, planes * pitch, n * stride * e}, {planes, pitch, e}, {n, e, stride * e}}};
}

CopyCase ContinuedCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = OneIn(random, 2) ? Pick(random, 1, 6) * 64 / e
                                     : Pick(random, 64, OneIn(random, 4) ? 1300 : 500) / e;
  const int64_t m = Pick(random, 32 / e, 100);
  const int64_t a = Pick(random, 1, 5), b = Pick(random, 1, 4), row = n * e;
  const int64_t gap = OneIn(random, 3) ? e * Pick(random, 1, 64) : 0;
  // The rows of dst are continued by a dimension beside that of src, or by that itself.
  if (OneIn(random, 2)) {
    return {e,
            {{m, a * b * row + gap, e},
             {b, a * row, a * n * m * e},
             {a, row, n * m * e},
             {n, e, OneIn(random, 4) ? -m * e : m * e}}};
  }
  return {e,
          {{b, m * a * row + gap, n * m * a * e},
           {a, m * row, OneIn(random, 2) ? m * e : n * m * e},
           {m, row, e},
           {n, e, OneIn(random, 3) ? 4096 : m * a * e}}};
}

CopyCase GatheredRunsCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 1, 2) * 64 / e,
                a = Pick(random, 2, std::min<int64_t>(20, 1024 / n));
  const int64_t m = Pick(random, 16 / e, 700 / e), b = Pick(random, 1, 5), c = Pick(random, 1, 2);
  const int64_t row = n * e, run = a * row + (OneIn(random, 3) ? 64 : 0);
  const int64_t page = OneIn(random, 4) ? -4096 : 4096;
  const bool inner_first = OneIn(random, 2);
  return {e,
          {{c, b * m * run, b * m * e},
           {b, m * run, OneIn(random, 3) ? 2 * m * e : m * e},
           {m, run, e},
           {a, row, inner_first ? n * page : page},
           {n, e, inner_first ? page : a * page}}};
}

CopyCase FewPlanesCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 2), planes = Pick(random, 2, 16 / e);
  const int64_t n = Pick(random, 1, 300), outer = Pick(random, 1, 3);
  const int64_t gap = e * Pick(random, 0, 9), pixel = planes * e + (OneIn(random, 2) ? gap : 0);
  if (OneIn(random, 2)) {
    return {e,
            {{outer, planes * (n * e + gap), n * pixel}, {planes, n * e + gap, e}, {n, e, pixel}}};
  }
  return {e,
          {{outer, n * planes * e + gap, planes * (n * e + gap)},
           {n, planes * e, e},
           {planes, e, n * e + gap}}};
}

CopyCase RowsOfGroupsCase(Random* random) {
  const int64_t unit = int64_t{1} << Pick(random, 0, 3);
  const int64_t elements = Pick(random, 1, std::min<int64_t>(16 / unit, 4)), group = elements * unit;
  const int64_t step = elements > 1 && OneIn(random, 3) ? -unit : unit;
  const int64_t next = group * Pick(random, 1, 2) + (OneIn(random, 3) ? unit : 0);
  const int64_t rows = Pick(random, 1, 40), groups = Pick(random, 20, 300);
  const int64_t gap = OneIn(random, 3) ? unit * Pick(random, 1, 9) : 0;
  const int64_t src_pitch = OneIn(random, 5) ? 0 : groups * next + unit * Pick(random, 0, 9);
  if (OneIn(random, 6)) {  // pairs that lie no whole pairs apart
    const int64_t odd = OneIn(random, 2) ? -3 : 5;
    return {1, {{rows, groups * 2 + gap, groups * 5 + gap}, {groups, 2, odd}, {2, 1, 1}}};
  }
  return {unit,
          {{rows, groups * group + gap, OneIn(random, 3) ? -src_pitch : src_pitch},
           {groups, group, OneIn(random, 2) ? -next : next},
           {elements, unit, step}}};
}

CopyCase JoinedRowsCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 64, 300) / e, row = n * e;
  const int64_t a = Pick(random, 2, OneIn(random, 4) ? 150 : 9), b = Pick(random, 1, 6);
  const int64_t gap = OneIn(random, 3) ? Pick(random, 1, 160) : 0;
  const int64_t src_row = row + (OneIn(random, 2) ? e : 0);
  return {e,
          {{b, a * row + gap, src_row},
           {a, row, OneIn(random, 3) ? -b * src_row : b * src_row},
           {n, e, e}}};
}

CopyCase DirectRowsCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 384 / e, 2000 / e), m = Pick(random, 1, 9);
  const int64_t steps[] = {1, 2, 3, 4, -1}, step = steps[Pick(random, 0, 4)];
  const int64_t pitch = n * e + e * Pick(random, 0, 70);
  return {e, {{m, pitch, (std::abs(step) * n + Pick(random, 0, 3)) * e}, {n, e, step * e}}};
}

CopyCase StaggeredCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 1024, 1324) / e;
  return TransposeInStrips(e, n, e * Pick(random, 0, 70), random);
}

CopyCase CollidingCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 1, 1100 / e), m = Pick(random, 1, 150 / e + 2);
  const int64_t period = OneIn(random, 2) ? 4096 : 2048;
  auto pitch = [&](int64_t dense) {
    if (OneIn(random, 4)) return dense * e;
    return (dense * e + period - 1) / period * period +
           e * (OneIn(random, 2) ? 1 : Pick(random, 0, 3));
  };
  return {e, {{m, pitch(n), e}, {n, e, pitch(m)}}};
}

CopyCase SquaresCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  const int64_t n = Pick(random, 256, 1100) / e;
  const int64_t m = Pick(random, 256, 1100) / std::min<int64_t>(e, 4);
  // Whole lines, now and then so many that rows fall into one set of a cache or two.
  auto pitch = [&](int64_t dense) {
    const int64_t multiple = OneIn(random, 3) ? 2048 << Pick(random, 0, 1) : 64;
    return (dense * e + multiple - 1) / multiple * multiple;
  };
  return {e, {{m, pitch(n), e}, {n, e, pitch(m)}}};
}

const std::vector<Way>& AllWays() {
  static const auto* const ways = [] {
    auto* all = new std::vector<Way>;
    for (SimdLevel level : kAllSimdLevels) {
      if (KernelsOf(level) == nullptr) continue;
      Kernels kernels = *KernelsOf(level);
      const std::string name = "level " + std::to_string(static_cast<int>(level));
      all->push_back({kernels, INT64_MAX, 0, name + " cached"});
      for (size_t i = 0; i < std::size(kAllMemoryOrders); ++i) {
        kernels.order = *kAllMemoryOrders[i];
        const std::string streamed = name + " streamed, order " + std::to_string(i);
        all->push_back({kernels, 0, 0, streamed});
        if (kernels.order.ahead_bytes == 0) continue;
        all->push_back({kernels, 0, INT64_MAX, streamed + ", from the last cache"});
      }
    }
    return all;
  }();
  return *ways;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
