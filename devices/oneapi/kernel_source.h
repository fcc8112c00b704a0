// The source of the strided copies and fills for SYCL's devices, in OpenCL C. The runtime compiles
// it for each device at its first strided copy: no compiler for those devices is needed to build.
//
// KernelSet::kDenseTiles of the kernels of devices/gpu/kernels (linear.h, gather.h, tile.h), with
// the same arguments. The pointers in the arguments are parameters of their own.

#ifndef DOVETAIL_DEVICES_ONEAPI_KERNEL_SOURCE_H_
#define DOVETAIL_DEVICES_ONEAPI_KERNEL_SOURCE_H_

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

DOVETAIL_NOT_SHARED inline constexpr char kOpenClKernels[] = R"cl(
typedef struct { uint divisor, multiplier, shift; } Divisor;

// CopyArguments and FillArguments of arguments.h.
#define MAX_RANK 30
typedef struct { uint rank; Divisor count[MAX_RANK]; long step[2][MAX_RANK]; } CopySpace;
typedef struct { uint count; Divisor tiles; long dst_step, src_step; } Tiled;
typedef struct {
  ulong dst, src;
  uint units;
  CopySpace space;
  Tiled along_dst, along_src;
} CopyArguments;
typedef struct { uint rank; Divisor count[MAX_RANK]; long step[MAX_RANK]; } FillSpace;
typedef struct {
  ulong dst;
  uint units, period_mask;
  uchar pattern[16] __attribute__((aligned(16)));
  FillSpace space;
} FillArguments;

#define THREADS 256

uint quotient(uint dividend, Divisor by) {
  return (mul_hi(dividend, by.multiplier) + dividend) >> by.shift;
}

// The offsets of unit `index` of a space `s` of copies.
#define LOCATE(s, index, to, from)                                                        \
  long to = 0, from = 0;                                                                  \
  for (int i = (int)(s).rank - 1, rest = index; i >= 0; --i) {                            \
    const uint outer = i > 0 ? quotient(rest, (s).count[i]) : 0;                          \
    const uint digit = rest - outer * (s).count[i].divisor;                               \
    to += (s).step[0][i] * digit;                                                         \
    from += (s).step[1][i] * digit;                                                       \
    rest = outer;                                                                         \
  }

// The hint keeps a CPU's runtime from executing adjacent threads as lanes of one vector, with a
// gather and a scatter for each access: 2 to 10 times the time on two cores of an AMD EPYC.
#define KERNEL __attribute__((vec_type_hint(uint4))) kernel void

#define COPY(bytes, unit, per_thread)                                                     \
  KERNEL dovetail_copy_##bytes(global uchar* dst, global const uchar* src,                \
                               CopyArguments a) {                                         \
    const uint first = get_group_id(0) * THREADS * per_thread + get_local_id(0);          \
    for (uint k = 0; k < per_thread; ++k) {                                               \
      const uint index = first + k * THREADS;                                             \
      if (index >= a.units) break;                                                        \
      LOCATE(a.space, index, to, from)                                                    \
      *(global unit*)(dst + to) = *(global const unit*)(src + from);                      \
    }                                                                                     \
  }
COPY(1, uchar, 8)
COPY(2, ushort, 8)
COPY(4, uint, 4)
COPY(8, ulong, 4)
COPY(16, uint4, 4)

// A thread puts words of `run` elements together, as in gather.h.
#define GATHERED(bytes, unit, run, word, per_thread)                                      \
  KERNEL dovetail_copy_gathered_##bytes##x##run(global uchar* dst,                        \
                                                global const uchar* src,                  \
                                                CopyArguments a) {                        \
    const uint first = get_group_id(0) * THREADS * per_thread + get_local_id(0);          \
    const long step = a.along_dst.src_step;                                               \
    const long carry = a.along_src.src_step - step * a.along_dst.count;                   \
    for (uint k = 0; k < per_thread; ++k) {                                               \
      const uint index = first + k * THREADS;                                             \
      if (index >= a.units) break;                                                        \
      const uint plane = quotient(index, a.along_src.tiles);                              \
      const uint begin = (index - plane * a.along_src.tiles.divisor) * run;               \
      LOCATE(a.space, plane, to, from)                                                    \
      const uint outer = quotient(begin, a.along_dst.tiles);                              \
      uint inner = begin - outer * a.along_dst.count;                                     \
      global const uchar* in =                                                            \
          src + from + a.along_src.src_step * outer + step * inner;                       \
      union { unit elements[run]; word all; } gathered;                                   \
      if (inner + run <= a.along_dst.count) {                                             \
        for (uint j = 0; j < run; ++j)                                                    \
          gathered.elements[j] = *(global const unit*)(in + step * j);                    \
      } else {                                                                            \
        for (uint j = 0; j < run; ++j) {                                                  \
          gathered.elements[j] = *(global const unit*)in;                                 \
          in += step;                                                                     \
          if (++inner == a.along_dst.count) {                                             \
            inner = 0;                                                                    \
            in += carry;                                                                  \
          }                                                                               \
        }                                                                                 \
      }                                                                                   \
      *(global word*)(dst + to + (long)begin * bytes) = gathered.all;                     \
    }                                                                                     \
  }
GATHERED(1, uchar, 4, uint, 4)
GATHERED(1, uchar, 16, uint4, 2)
GATHERED(2, ushort, 2, uint, 4)
GATHERED(2, ushort, 8, uint4, 2)
GATHERED(4, uint, 4, uint4, 2)

#define FILL(bytes, unit, per_thread)                                                     \
  KERNEL dovetail_fill_##bytes(global uchar* dst, FillArguments a) {                      \
    const uint first = get_group_id(0) * THREADS * per_thread + get_local_id(0);          \
    for (uint k = 0; k < per_thread; ++k) {                                               \
      uint index = first + k * THREADS;                                                   \
      if (index >= a.units) break;                                                        \
      const unit value =                                                                  \
          *(const private unit*)(a.pattern + (index & a.period_mask) * bytes);            \
      long to = 0;                                                                        \
      for (int i = (int)a.space.rank - 1; i >= 0; --i) {                                  \
        const uint outer = i > 0 ? quotient(index, a.space.count[i]) : 0;                 \
        to += a.space.step[i] * (index - outer * a.space.count[i].divisor);               \
        index = outer;                                                                    \
      }                                                                                   \
      *(global unit*)(dst + to) = value;                                                  \
    }                                                                                     \
  }
FILL(1, uchar, 8)
FILL(2, ushort, 8)
FILL(4, uint, 4)
FILL(8, ulong, 4)
FILL(16, uint4, 4)

// Both sides are dense, and have at least one tile of `width` x `height` elements. Tiles move in
// squares of 4 x 4 elements. The last tiles overlap the ones before and write the same elements
// again, so that all are whole. A row of a tile is one bank longer than its elements.
#define TILED(bytes, unit, unit4, width, height)                                          \
  kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))                             \
  void dovetail_copy_tiled_##bytes(global uchar* dst, global const uchar* src,            \
                                   CopyArguments a) {                                     \
    local unit tile[height][width + 4 / bytes];                                           \
    const Tiled d = a.along_dst, s = a.along_src;                                         \
    const uint rest = quotient(get_group_id(0), d.tiles);                                 \
    const uint batch = quotient(rest, s.tiles);                                           \
    const uint left = (get_group_id(0) - rest * d.tiles.divisor) * width;                 \
    const uint top = (rest - batch * s.tiles.divisor) * height;                           \
    const uint x = min(left, d.count - width), y = min(top, s.count - height);            \
    LOCATE(a.space, batch, to, from)                                                      \
    src += from + d.src_step * x + y * bytes;                                             \
    dst += to + x * bytes + s.dst_step * y;                                               \
    for (uint i = get_local_id(0); i < width * height / 16; i += THREADS) {               \
      const uint row = i % (height / 4) * 4, column = i / (height / 4) * 4;               \
      global const uchar* in = src + d.src_step * column + row * bytes;                   \
      const unit4 e = vload4(0, (global const unit*)in);                                  \
      const unit4 f = vload4(0, (global const unit*)(in + d.src_step));                   \
      const unit4 g = vload4(0, (global const unit*)(in + d.src_step * 2));               \
      const unit4 h = vload4(0, (global const unit*)(in + d.src_step * 3));               \
      vstore4((unit4)(e.s0, f.s0, g.s0, h.s0), 0, &tile[row][column]);                    \
      vstore4((unit4)(e.s1, f.s1, g.s1, h.s1), 0, &tile[row + 1][column]);                \
      vstore4((unit4)(e.s2, f.s2, g.s2, h.s2), 0, &tile[row + 2][column]);                \
      vstore4((unit4)(e.s3, f.s3, g.s3, h.s3), 0, &tile[row + 3][column]);                \
    }                                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                         \
    for (uint i = get_local_id(0); i < width * height / 4; i += THREADS) {                \
      const uint row = i / (width / 4), column = i % (width / 4) * 4;                     \
      vstore4(vload4(0, &tile[row][column]), 0,                                           \
              (global unit*)(dst + s.dst_step * row + column * bytes));                   \
    }                                                                                     \
  }
TILED(1, uchar, uchar4, 128, 64)
TILED(2, ushort, ushort4, 64, 64)
TILED(4, uint, uint4, 64, 64)
)cl";

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_KERNEL_SOURCE_H_
