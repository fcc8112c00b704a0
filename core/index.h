// What selects a part of a tensor: slices and index expressions, by Python's rules.
//
//   t.Slice(0, {.start = 1, .stop = 3})                                  // t[1:3]
//   t.Index({IndexItem::At(1), IndexItem::Range({.step = -1})})          // t[1, ::-1]
//
// Negative indices count from the end, slices are clamped, and a single index out of range is an
// error (OutOfRange).

#ifndef DOVETAIL_CORE_INDEX_H_
#define DOVETAIL_CORE_INDEX_H_

#include <cstdint>
#include <optional>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// start:stop:step as in Python, each part optional. The step may be negative but not 0.
struct SliceSpec {
  std::optional<int64_t> start = {};
  std::optional<int64_t> stop = {};
  int64_t step = 1;
};

// One entry of an index expression such as t[1, ..., ::2, None].
class IndexItem {
 public:
  enum class Kind { kAt, kRange, kEllipsis, kNewAxis };

  static IndexItem At(int64_t index) { return {Kind::kAt, index, {}}; }
  static IndexItem Range(SliceSpec slice) { return {Kind::kRange, 0, slice}; }
  static IndexItem Ellipsis() { return {Kind::kEllipsis, 0, {}}; }
  static IndexItem NewAxis() { return {Kind::kNewAxis, 0, {}}; }

  Kind kind() const { return kind_; }
  int64_t index() const { return index_; }
  const SliceSpec& slice() const { return slice_; }

 private:
  IndexItem(Kind kind, int64_t index, SliceSpec slice)
      : kind_(kind), index_(index), slice_(slice) {}
  Kind kind_;
  int64_t index_;
  SliceSpec slice_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INDEX_H_
