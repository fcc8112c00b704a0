// Copies into a dense destination from a source that is dense along no long dimension: images whose
// channels become planes and the reverse. A thread gathers kRun elements and writes them as one
// word.
//
//   GatherCopy<1, 4>::Run<0>(arguments, block, thread, nullptr);
//
// The elements of a word lie in the two innermost dimensions, the *plane*, whose elements are
// contiguous in the destination. arguments.along_dst describes the innermost dimension,
// arguments.along_src the one outside of it; along_src.tiles is the number of words in a plane.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_GATHER_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_GATHER_H_

#include <cstdint>
#include <cstring>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

template <int kBytes, int kElements>
struct GatherCopy {
  using Arguments = CopyArguments;
  static constexpr int kPhases = 1;
  static constexpr int kSharedBytes = 0;
  static constexpr int kRun = kElements;  // elements of a word
  static constexpr int kWordBytes = kBytes * kRun;
  static constexpr int kWordsPerThread = kWordBytes >= 16 ? 2 : 4;
  static constexpr int kUnitsPerBlock = kBlockThreads * kWordsPerThread;
  using Unit = typename UnitOf<kBytes>::Type;
  using Word = typename UnitOf<kWordBytes>::Type;

  template <int kPhase>
  DOVETAIL_HOST_DEVICE static void Run(const CopyArguments& a, uint32_t block, uint32_t thread,
                                       unsigned char*) {
    const uint32_t first = block * kUnitsPerBlock + thread;
    Word word[kWordsPerThread];
    int64_t dst[kWordsPerThread];
    DOVETAIL_UNROLL
    for (int i = 0; i < kWordsPerThread; ++i) {
      const uint32_t index = first + i * kBlockThreads;
      if (index < a.units) word[i] = Gather(a, index, &dst[i]);
    }
    DOVETAIL_UNROLL
    for (int i = 0; i < kWordsPerThread; ++i) {
      if (first + i * kBlockThreads < a.units) StoreUnit<Word>(a.dst + dst[i], word[i]);
    }
  }

  // The elements of word `index`, and the word's offset in the destination.
  DOVETAIL_HOST_DEVICE static Word Gather(const CopyArguments& a, uint32_t index, int64_t* dst) {
    const uint32_t plane = a.along_src.tiles.Quotient(index);
    const uint32_t word = index - plane * a.along_src.tiles.divisor;
    int64_t offset[2];
    a.space.Locate(plane, offset);
    *dst = offset[0] + static_cast<int64_t>(word) * kWordBytes;
    const uint32_t outer = a.along_dst.tiles.Quotient(word * kRun);
    uint32_t inner = word * kRun - outer * a.along_dst.count;
    const int64_t step = a.along_dst.src_step;
    const int64_t carry = a.along_src.src_step - step * a.along_dst.count;
    const unsigned char* src = a.src + offset[1] + a.along_src.src_step * outer + step * inner;
    uint32_t words[(kWordBytes + 3) / 4] = {};
    DOVETAIL_UNROLL
    for (int j = 0; j < kRun; ++j) {
      const auto unit = static_cast<uint32_t>(LoadUnit<Unit>(src));
      words[j * kBytes / 4] |= unit << (j * kBytes % 4 * 8);
      src += step;
      if (++inner == a.along_dst.count) {
        inner = 0;
        src += carry;
      }
    }
    Word result;
    std::memcpy(&result, words, sizeof(result));
    return result;
  }
  static_assert(kBytes <= 4 && kWordBytes % 4 == 0);
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_GATHER_H_
