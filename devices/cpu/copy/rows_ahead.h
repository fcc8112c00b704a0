// Rows of src that are asked for some turns before they are copied: those that do not follow each
// other there, which a processor may not guess.
//
//   RowsAhead ahead(src, loops, rank, 8192 / row_bytes);
//   Odometer at(loops, rank);
//   do {
//     if (const char* row = ahead.Next()) AskFor(row, row_bytes);
//     …                                               // copy the row at src + at.src
//   } while (at.Next());

#ifndef DOVETAIL_DEVICES_CPU_COPY_ROWS_AHEAD_H_
#define DOVETAIL_DEVICES_CPU_COPY_ROWS_AHEAD_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/odometer.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

class RowsAhead {
 public:
  // So many turns ahead of an odometer of the same loops; with 0, never anywhere.
  RowsAhead(const char* src, const Loop* loops, int rank, int64_t turns)
      : src_(src), at_(loops, rank), more_(turns > 0) {
    for (int64_t i = 0; i < turns && more_; ++i) more_ = at_.Next();
  }

  // What is copied so many turns later; nullptr where that is after the last.
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

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_ROWS_AHEAD_H_
