// Copies for tests: random ones, those that each kernel is made for, and the plainest way to do
// them.
//
//   CopyCase copy = RandomCase(&random);
//   copy.Naive(dst, src);                    // element 0 of each, as for Execute
//   Execute(copy.Plan(), dst, src);

#ifndef DOVETAIL_DEVICES_CPU_COPY_TESTING_COPY_CASE_H_
#define DOVETAIL_DEVICES_CPU_COPY_TESTING_COPY_CASE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

using Random = std::mt19937;

inline int64_t Pick(Random* random, int64_t lowest, int64_t highest) {
  return lowest + static_cast<int64_t>((*random)() % (highest - lowest + 1));
}
inline bool OneIn(Random* random, int n) { return (*random)() % n == 0; }

// Bytes from the lowest to the highest that one side reaches, and where its element 0 is in them.
struct Reach {
  int64_t bytes = 0;
  int64_t first = 0;
};

struct CopyCase {
  int64_t element = 1;  // bytes
  std::vector<Loop> loops;

  CopyPlan Plan() const;
  Reach DstReach() const;
  Reach SrcReach() const;
  void Naive(char* dst, const char* src) const;
  std::string ToString() const;
};

// Any shape, strides of any sign, gaps, repeated sources, elements of 1 to 32 bytes.
CopyCase RandomCase(Random* random);

// One that is planned for the kernel given, of a random size that the kernel takes.
CopyCase CaseFor(CopyKernel kernel, Random* random);

// One for a kernel that writes whole lines (kTranspose or kPermute), whose rows of dst lie in the
// same way to its lines.
CopyCase LinesCase(CopyKernel kernel, Random* random);

// A transpose whose rows, of a line's bytes at least, continue each other in dst.
CopyCase ContinuedCase(Random* random);

// A permutation of short dimensions, or of short rows that are read from the same places in several
// pages.
CopyCase ShortRunsCase(Random* random);

// A transpose of fewer planes than fill a lane, that are deinterleaved or interleaved.
CopyCase FewPlanesCase(Random* random);

// Rows of groups (pixels that are mirrored, say, or every second of them) that follow each other in
// dst, as a rule.
CopyCase RowsOfGroupsCase(Random* random);

// Dense rows that follow each other in dst.
CopyCase JoinedRowsCase(Random* random);

// Long rows of dst, with gaps or without, that are dense in src or repeat one element.
CopyCase DirectRowsCase(Random* random);

// A transpose with long rows, of which each may lie in its own way to the lines.
CopyCase MisalignedCase(Random* random);

inline constexpr CopyKernel kAllCopyKernels[] = {
    CopyKernel::kRows,
    CopyKernel::kFill,
    CopyKernel::kTranspose,
    CopyKernel::kTransposeGaps,
    CopyKernel::kPermute,
    CopyKernel::kElements,
    CopyKernel::kTransposeGroups,
};

// A transpose whose rows, on one side or both, lie about a multiple of 2048 bytes apart.
CopyCase CollidingCase(Random* random);
// Transposes, larger than the nearest cache as a rule, with rows that begin at the same place in a
// line on both sides.
CopyCase SquaresCase(Random* random);

// One way to run a plan: all but the name as in ExecuteOptions.
struct Way {
  Kernels kernels;
  int64_t stream_from;
  std::string name;
};

// Each level that this machine has, through the cache, and by streaming stores with each tuning.
const std::vector<Way>& AllWays();

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_TESTING_COPY_CASE_H_
