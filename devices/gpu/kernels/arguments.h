// The arguments of the kernels, passed by value. The files of planning/ fill them; the kernels and
// the emulator read them.
//
// Addresses and steps are in bytes. An index space counts units; a unit is one load or store of 1
// to 16 bytes. The last dimension is the innermost. A launch has fewer than 2^31 units, so that
// 32-bit divisions suffice and there are at most 30 dimensions of size 2 or more.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_ARGUMENTS_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_ARGUMENTS_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/cast_formats.h"
#include "dovetail/devices/gpu/kernels/fast_divisor.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The largest index space of a launch, in units, and its largest number of dimensions.
inline constexpr int64_t kMaxLaunchUnits = (int64_t{1} << 31) - 1;
inline constexpr int kMaxLaunchRank = 30;

// Threads per block, in all kernels.
inline constexpr int kBlockThreads = 256;

// Maps the index of a unit to its offset in each operand.
template <int kOperands>
struct IndexSpace {
  uint32_t rank = 0;
  FastDivisor count[kMaxLaunchRank];
  int64_t step[kOperands][kMaxLaunchRank] = {};

  // The offset of unit `index` in each operand.
  DOVETAIL_HOST_DEVICE void Locate(uint32_t index, int64_t (&offset)[kOperands]) const {
    for (int k = 0; k < kOperands; ++k) offset[k] = 0;
    DOVETAIL_NO_UNROLL
    for (int i = static_cast<int>(rank) - 1; i >= 0; --i) {
      const uint32_t quotient = i > 0 ? count[i].Quotient(index) : 0;
      const uint32_t digit = index - quotient * count[i].divisor;
      for (int k = 0; k < kOperands; ++k) offset[k] += step[k][i] * digit;
      index = quotient;
    }
  }
};

struct CopyArguments {
  unsigned char* dst = nullptr;
  const unsigned char* src = nullptr;
  uint32_t units = 0;   // of a linear copy; words of a gathered one
  IndexSpace<2> space;  // {dst, src}; without the two dimensions below
  // Tiled copies: the dimension along which dst is dense, and the one along which src is. Gathered
  // copies: the innermost dimension, and the one outside of it.
  struct Tiled {
    uint32_t count = 1;
    FastDivisor tiles;  // number of tiles along the dimension; see gather.h for gathered copies
    int64_t dst_step = 0;
    int64_t src_step = 0;
  };
  Tiled along_dst;
  Tiled along_src;
};

// A unit is a packet of elements, or an element, on each side.
struct CastArguments {
  CopyArguments copy;
  CastFormats formats;
  bool stores_words = false;  // of a tiled cast: dst is dense in whole words of four bytes
};

// A cast from a type of one byte: what each of the 256 codes becomes, as elements of 1 to 8 bytes.
struct TableCastArguments {
  CopyArguments copy;
  alignas(8) unsigned char table[256 * 8] = {};
};
static_assert(sizeof(TableCastArguments) <= 4096, "A launch takes no more.");

// Element i is number first + i of a progression (core/progression.h). `formats.from` is an int64
// or a float64.
struct ProgressionArguments {
  unsigned char* dst = nullptr;
  uint32_t units = 0;  // elements
  bool is_integer = true;
  uint64_t first = 0;
  uint64_t start = 0, step = 0;
  double real_start = 0, real_step = 0;
  CastFormats formats;
};

struct FillArguments {
  unsigned char* dst = nullptr;
  uint32_t units = 0;
  uint32_t period_mask = 0;  // unit i holds the bytes of unit (i & period_mask) of the pattern
  alignas(16) unsigned char pattern[16] = {};
  IndexSpace<1> space;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_ARGUMENTS_H_
