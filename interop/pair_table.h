// Tables of pairs, another library's name for a thing and ours, of which one serves both
// directions.
//
//   constexpr TypePair kTypes[] = {{CV_8U, kUInt8}, {CV_32F, kFloat32}};
//   static_assert(IsBijection(kTypes, &TypePair::depth, &TypePair::dtype));
//   std::optional<int> depth = Find(kTypes, &TypePair::dtype, kUInt8, &TypePair::depth);
//
// A side is a member of the rows, or a function of a row. Any thread.

#ifndef DOVETAIL_INTEROP_PAIR_TABLE_H_
#define DOVETAIL_INTEROP_PAIR_TABLE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

// True if no value stands twice on a side.
template <typename Row, size_t kSize, typename Left, typename Right>
constexpr bool IsBijection(const Row (&rows)[kSize], Left left, Right right) {
  for (size_t i = 0; i < kSize; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (std::invoke(left, rows[i]) == std::invoke(left, rows[j]) ||
          std::invoke(right, rows[i]) == std::invoke(right, rows[j])) {
        return false;
      }
    }
  }
  return true;
}

// The side `to` of the first row whose side `from` is `value`; nullopt if there is none.
template <typename Row, size_t kSize, typename From, typename Value, typename To>
constexpr auto Find(const Row (&rows)[kSize], From from, const Value& value, To to)
    -> std::optional<std::decay_t<std::invoke_result_t<To, const Row&>>> {
  for (const Row& row : rows) {
    if (std::invoke(from, row) == value) return std::invoke(to, row);
  }
  return std::nullopt;
}

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_PAIR_TABLE_H_
