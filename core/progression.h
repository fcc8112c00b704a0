// Progression: the numbers start, start + step, start + 2 * step, … as NumPy's arange() makes them.
//
//   const Progression odd{.is_integer = true, .start = 1, .step = 2};
//   odd.IntegerAt(3)     // 7
//
// A value type; nothing fails.

#ifndef DOVETAIL_CORE_PROGRESSION_H_
#define DOVETAIL_CORE_PROGRESSION_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct Progression {
  bool is_integer = true;
  int64_t start = 0, step = 1;           // of integers
  double real_start = 0, real_step = 1;  // of real numbers

  // start + i * step, which fits even where i * step does not.
  int64_t IntegerAt(int64_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start) +
                                static_cast<uint64_t>(step) * static_cast<uint64_t>(i));
  }
  // Rounded after the product and after the sum.
  double RealAt(int64_t i) const { return real_start + static_cast<double>(i) * real_step; }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_PROGRESSION_H_
