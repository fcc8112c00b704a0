// Carries the last, incomplete cache line of each row of dst from one block of a streaming
// transpose to the next block of the same rows (ColumnsBefore::carry).
//
//   const CarriedLines lines(loops, 1, 1024);    // of 1024 rows, for each iteration of loops[0]
//   char* carry = lines.At(at);                   // of the first row; `at` is an Odometer
//
// Allocates once, on the heap. Not thread-safe.

#ifndef DOVETAIL_DEVICES_CPU_COPY_CARRIED_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_CARRIED_LINES_H_

#include <cstdint>
#include <memory>
#include <new>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class CarriedLines {
 public:
  // A band covers the first `rank` loops, and `rows` rows in each iteration of them. If there are
  // no rows, or if memory runs out, nothing is carried. `loops` must outlive this.
  CarriedLines(const Loop* loops, int rank, int64_t rows)
      : loops_(loops), rank_(rank), rows_(rows) {
    int64_t lines = rows;
    for (int i = 0; i < rank; ++i) lines *= loops[i].count;
    if (lines == 0) return;
    bytes_.reset(new (std::nothrow) char[(lines + 1) * kLine]);
    first_ = bytes_.get() + -reinterpret_cast<uintptr_t>(bytes_.get()) % kLine;
  }

  // Null if nothing is carried. The loops of `at` begin with these.
  char* At(const Odometer& at) const {
    if (bytes_ == nullptr) return nullptr;
    int64_t turn = 0;
    for (int i = rank_; i-- > 0;) turn = turn * loops_[i].count + at.index(i);
    return first_ + turn * rows_ * kLine;
  }

 private:
  const Loop* loops_;
  int rank_;
  int64_t rows_;
  std::unique_ptr<char[]> bytes_;
  char* first_ = nullptr;
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_CARRIED_LINES_H_
