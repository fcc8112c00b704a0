// The plan of a strided copy: the order of its loops, and the kernel for the innermost ones.
//
//   CopyPlan plan;
//   plan.Add({.count = 30, .dst_step = 4, .src_step = 200});
//   plan.Add({.count = 50, .dst_step = 120, .src_step = 4});
//   plan.Finish(4);                            // bytes of an element
//   // plan.kernel == CopyKernel::kTranspose
//   Execute(plan, dst, src);                   // execute.h
//
// A plan is a plain value. Making one allocates nothing. It can be executed any number of times, on
// any memory. Steps are bytes.

#ifndef DOVETAIL_DEVICES_CPU_COPY_PLAN_H_
#define DOVETAIL_DEVICES_CPU_COPY_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/permutation.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

using internal_loop_nest::Odometer;

// The kernels, with what each requires of the plan's first loops. Dense: the step is one element.
// Gapped: the step is a few elements (WidestGap).
enum class CopyKernel : uint8_t {
  kNothing,          // there are no elements
  kRows,             // loops[0] is dense in dst and src
  kFill,             // loops[0] is dense in dst, and repeats one element of src
  kTranspose,        // loops[0] is dense in dst, loops[1] in src
  kTransposeGaps,    // as kTranspose, but loops[1] is gapped in src
  kTransposeGroups,  // loops[0] is a short row, dense in dst and src, such as a pixel; loops[1]
                     // continues it in dst, and loops[2] in src, or nearly so
  kPermute,          // windows of a few vectors (permutation.h): loops[0] is gapped or reversed;
                     // or it is a group and loops[1] is near it in dst
  kElements,         // anything
};

struct CopyPlan {
  // The loops of a tensor of the highest rank, and two for elements of odd sizes and groups of one.
  static constexpr int kMaxLoops = 64 + 2;

  // Adds a loop. Any order will do; little is left to sort if the innermost loop comes first. A
  // loop of one iteration is left out; one of no iterations leaves nothing to copy.
  void Add(Loop loop) {
    if (loop.count == 1) return;
    if (loop.count == 0) empty = true;
    loops[rank++] = loop;
  }

  // Brings the loops into order and chooses the kernel. If a loop writes the same element in each
  // iteration (a dst_step of 0), its last value stays.
  void Finish(int64_t element_bytes);

  CopyKernel kernel = CopyKernel::kNothing;
  bool empty = false;
  int unit_log2 = 0;  // the unit: bytes that are moved as one element
  int rank = 0;
  int64_t dst_offset = 0;  // of the first iteration of all loops, from element 0
  int64_t src_offset = 0;
  int64_t bytes = 0;  // bytes written; for a part of a plan, by the whole plan
  // Innermost first. The kernel runs the first kernel_loops(). The others are sorted by how much
  // new memory an iteration reaches, the least first.
  Loop loops[kMaxLoops];

  int64_t unit() const { return int64_t{1} << unit_log2; }

  // Whether every row of dst begins at a multiple of `multiple` bytes, a power of two. `dst` is the
  // address of the first iteration of all loops.
  bool RowsBeginAt(int64_t multiple, const char* dst) const {
    int64_t all = reinterpret_cast<intptr_t>(dst);
    for (int i = 1; i < rank; ++i) all |= loops[i].dst_step;
    return all % multiple == 0;
  }

  // Whether it is a transpose of fewer planes than a vector deinterleaves at once.
  bool HasFewPlanes() const {
    return kernel == CopyKernel::kTranspose && loops[1].count * unit() < kLaneBytes;
  }

  // The first loop from loops[first] on with several iterations and a step of `bytes`; 0 if there
  // is none. `first` is 1 at least.
  int FindLoop(int first, int64_t Loop::* step, int64_t bytes) const {
    for (int i = first; i < rank; ++i) {
      if (loops[i].*step == bytes && loops[i].count > 1) return i;
    }
    return 0;
  }

  // Whether it is a permutation of groups, loops[0].
  bool HasGroups() const {
    return kernel == CopyKernel::kPermute && IsGrouped(loops, rank, unit(), kMaxVector);
  }
  // Whether it is a permutation with several planes on one side.
  bool HasPlanes() const {
    return kernel == CopyKernel::kPermute && rank > 1 && std::abs(loops[1].src_step) == unit();
  }

  // The number of loops that the kernel runs itself.
  int kernel_loops() const {
    if (kernel == CopyKernel::kPermute) return HasGroups() || HasPlanes() ? 2 : 1;
    return KernelLoops(kernel, rank);
  }
  // Whether the kernel writes rows of dst one by one, at any distance.
  bool GoesByRows() const {
    return kernel == CopyKernel::kRows || kernel == CopyKernel::kFill ||
           (kernel == CopyKernel::kPermute && !HasPlanes());
  }
  static int KernelLoops(CopyKernel kernel, int rank) {
    return std::min(rank, kernel == CopyKernel::kTransposeGroups ? 3 : 2);
  }

 private:
  void TakeUnit(int64_t element_bytes);
  void Widen();
  void ChooseKernel();
  CopyKernel ChooseRowKernel() const;
  bool IsPermutedRow() const;
  bool HasPermutedGroups() const;
  int FindNearGroups() const;
  CopyKernel ChooseTileKernel(const Loop& outer) const;
  void MakeTile(int along);
  void OrderElements();
  int FindNearestInSrc(bool with_gaps) const;
  bool HasGapsInSrc(const Loop& outer) const;
  bool IsNarrow(const Loop& outer) const;
  bool GoesInside(const Loop& a, const Loop& b) const;
  void SortOuter(int first);
  void MoveTo(int from, int to);
  int FindDenseInSrc() const;
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_PLAN_H_
