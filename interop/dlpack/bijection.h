// Proves at compile time that a table of pairs is a bijection and lists every value once.

#ifndef DOVETAIL_INTEROP_DLPACK_BIJECTION_H_
#define DOVETAIL_INTEROP_DLPACK_BIJECTION_H_

#include <cstddef>

#include "dovetail/core/config.h"
#include "dovetail/interop/pair_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_dlpack {

// True if no left side and no right side occurs twice in `pairs`.
template <typename Pair, size_t kSize>
constexpr bool IsBijection(const Pair (&pairs)[kSize]) {
  return internal_interop::IsBijection(pairs, &Pair::dlpack, &Pair::core);
}

// True if both sides of each pair have the same number, so that a cast converts between them.
template <typename Pair, size_t kSize>
constexpr bool NumbersAgree(const Pair (&pairs)[kSize]) {
  for (const Pair& p : pairs) {
    if (static_cast<int>(p.dlpack) != static_cast<int>(p.core)) return false;
  }
  return true;
}

}  // namespace internal_dlpack
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_BIJECTION_H_
