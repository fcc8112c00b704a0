// Chooses the rows of src to prefetch while others are copied, if rows do not follow each other and
// hardware prefetch does not find them.
//
//   RowsAhead ahead(src, loops, rank, 8192 / row_bytes);
//   Odometer at(loops, rank);
//   do {
//     if (const char* row = ahead.Next()) PrefetchRow(row, row_bytes, tuning.prefetch_into);
//     …                                               // copy the row at src + at.src
//   } while (at.Next());

#ifndef DOVETAIL_DEVICES_CPU_COPY_ROWS_AHEAD_H_
#define DOVETAIL_DEVICES_CPU_COPY_ROWS_AHEAD_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Sorts loops by their step in src, the shortest first.
inline void SortAsInSrc(Loop* begin, Loop* end) {
  std::sort(begin, end, [](const Loop& a, const Loop& b) {
    return std::abs(a.src_step) < std::abs(b.src_step);
  });
}

class RowsAhead {
 public:
  // Stays `iterations` ahead of an odometer of the same loops. With 0, nothing is prefetched.
  RowsAhead(const char* src, const Loop* loops, int rank, int64_t iterations)
      : src_(src), at_(loops, rank), more_(iterations > 0) {
    for (int64_t i = 0; i < iterations && more_; ++i) more_ = at_.Next();
  }

  // The row that is copied `iterations` later; nullptr after the last row.
  const char* Next() {
    if (!more_) return nullptr;
    const char* const row = src_ + at_.src;
    more_ = at_.Next();
    return row;
  }

 private:
  const char* src_;
  Odometer at_;
  bool more_;
};

// The same for rows that are copied in batches: a batch is prefetched about two batches before it
// is copied.
//
//   BatchesAhead batches(plan, 1, row_bytes, tuning.prefetch_distance, src);
//   do {
//     if (const char* first = batches.later()) …        // prefetch as many rows from it on
//     …                                    // copy batches.rows() rows at batches.dst(), src()
//   } while (batches.Next());
class BatchesAhead {
 public:
  // The rows are the iterations of plan.loops[first] and of the loops after it. If far_bytes is 0,
  // all iterations of plan.loops[first] are one batch, and nothing is prefetched.
  BatchesAhead(const CopyPlan& plan, int first, int64_t row_bytes, int64_t far_bytes,
               const char* src)
      : far_(far_bytes / row_bytes),
        rows_(internal_loop_nest::DivideEvenly(
            plan.loops[first],
            far_ > 0 ? std::max<int64_t>(far_ / 2, 1) : plan.loops[first].count)),
        rank_(TakeLoops(plan, first)),
        ahead_(src, loops_, rank_, far_ / rows_.size()),
        at_(loops_, rank_),
        later_(ahead_.Next()) {}
  BatchesAhead(const BatchesAhead&) = delete;
  BatchesAhead& operator=(const BatchesAhead&) = delete;

  int64_t rows() const { return rows_.SizeOf(at_.index(0)); }
  int64_t dst() const { return at_.dst; }
  int64_t src() const { return at_.src; }
  // The first row of the batch to prefetch; nullptr if there is none.
  const char* later() const { return later_; }

  bool Next() {
    later_ = ahead_.Next();
    return at_.Next();
  }

 private:
  int TakeLoops(const CopyPlan& plan, int first) {
    std::copy(plan.loops + first, plan.loops + plan.rank, loops_);
    loops_[0] = rows_.Parts();
    return plan.rank - first;
  }

  const int64_t far_;  // rows
  const internal_loop_nest::DividedLoop rows_;
  Loop loops_[CopyPlan::kMaxLoops];
  const int rank_;
  RowsAhead ahead_;
  Odometer at_;
  const char* later_;
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_ROWS_AHEAD_H_
