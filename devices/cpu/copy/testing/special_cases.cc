// Cases for what several kernels or ways to copy share: alignment, prefetch, conflicts in the
// cache.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "dovetail/devices/cpu/copy/testing/copy_case.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
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
  if (kernel == CopyKernel::kTranspose) {
    return TransposeInStrips(e, n + 16 * line, pitch - n * e, random);
  }
  const int64_t planes = Pick(random, 2, 4);
  const int64_t back = OneIn(random, 3) ? -1 : 1;  // mirrored pixels
  if (OneIn(random, 2)) {
    return {
        e,
        {{outer, planes * pitch, planes * n * e}, {n, planes * e, back * e}, {planes, e, n * e}}};
  }
  if (OneIn(random, 4)) return {e, {{outer, pitch, n * e}, {n, e, -e}}};
  const int64_t stride = Pick(random, planes, 4);
  return {e,
          {{outer, planes * pitch, n * stride * e}, {planes, pitch, e}, {n, e, back * stride * e}}};
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

// A permutation of three to six short dimensions, dense on both sides but for some gaps, with some
// dimensions reversed in src and some repeated there; or of pages that collide in the cache.
CopyCase ShortRunsCase(Random* random) {
  const int64_t e = int64_t{1} << Pick(random, 0, 4);
  if (OneIn(random, 4)) {
    const int64_t n = Pick(random, 1, 2) * 64 / e,
                  a = Pick(random, 2, std::min<int64_t>(20, 1024 / n));
    const int64_t m = Pick(random, 16 / e, 700 / e), b = Pick(random, 1, 5);
    const int64_t row = n * e, run = a * row + (OneIn(random, 3) ? 64 : 0);
    const int64_t page = OneIn(random, 4) ? -4096 : 4096;
    return {e, {{b, m * run, m * e}, {m, run, e}, {a, row, n * page}, {n, e, page}}};
  }
  const int64_t rank = Pick(random, 3, 6);
  CopyCase copy{e, {}};
  int64_t left = (OneIn(random, 4) ? 1 << 20 : 1 << 15) / e;  // of the elements
  for (int64_t i = rank - 1; i >= 0; --i) {
    const int64_t most = std::min<int64_t>(100, std::max<int64_t>(left >> i, 2));
    copy.loops.push_back({Pick(random, 2, Pick(random, 2, most)), 0, 0});
    left /= copy.loops.back().count;
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t Loop::* const step : {&Loop::dst_step, &Loop::src_step}) {
    int64_t next = e;
    std::shuffle(order.begin(), order.end(), *random);
    for (const int i : order) {
      if (OneIn(random, 15)) next += e;
      copy.loops[i].*step = next;
      next *= copy.loops[i].count;
    }
  }
  for (Loop& loop : copy.loops) {
    if (OneIn(random, 10)) loop.src_step = -loop.src_step;
    if (OneIn(random, 20)) loop.src_step = 0;
  }
  return copy;
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
  const int64_t elements = Pick(random, 1, std::min<int64_t>(16 / unit, 4)),
                group = elements * unit;
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
  const int64_t n = Pick(random, 384 / e, 5000 / e), m = Pick(random, 1, 9);
  const int64_t pitch = n * e + e * Pick(random, 0, 70);
  return {e, {{m, pitch, (n + Pick(random, 0, 3)) * e}, {n, e, OneIn(random, 3) ? 0 : e}}};
}

CopyCase MisalignedCase(Random* random) {
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

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
