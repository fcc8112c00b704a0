// How the memory of two layouts of one tensor corresponds: the smallest number of runs of bytes
// that are contiguous on both sides.
//
//   absl::StatusOr<RunPairs> pairs = PairRuns(dst_layout, src_layout, /*step_bits=*/16,
//                                               /*lists=*/false);
//
// Element i of one layout, in row-major order, is element i of the other. The shapes may differ.

#ifndef DOVETAIL_PYTHON_MODULE_DESCRIPTORS_RUN_PAIRS_H_
#define DOVETAIL_PYTHON_MODULE_DESCRIPTORS_RUN_PAIRS_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/layout.h"

namespace dovetail::python {

// Offsets from element 0 of each side, and the length, in bytes.
struct RunPair {
  int64_t dst;
  int64_t src;
  int64_t nbytes;
};

using RunLoops = absl::InlinedVector<internal_loop_nest::Loop, 8>;

// The runs, ascending in dst: a nest of loops, or a list.
struct RunPairs {
  // The smallest number of runs.
  int64_t count = 0;

  // Each iteration of the loops, innermost first, is a run of `nbytes`. Steps in bytes. There are
  // more than `count` iterations if the last of a loop is continued by the next of an outer one.
  internal_loop_nest::Loop::Offsets start;
  int64_t nbytes = 0;
  RunLoops loops;

  // If not empty, used instead: exactly `count` runs.
  std::vector<RunPair> list;
};

// Both layouts have the same number of elements, at least one. Elements follow each other every
// `step_bits` bits. InvalidArgument if the layouts do not fit together, if dst has an element
// twice, and if a run begins or ends inside a byte. Cancelled if a signal handler asks for it.
//
// The result is a list if `lists`, or if no nest of loops has the runs. It takes 24 bytes a run.
absl::StatusOr<RunPairs> PairRuns(const Layout& dst, const Layout& src, int64_t step_bits,
                                  bool lists);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_DESCRIPTORS_RUN_PAIRS_H_
