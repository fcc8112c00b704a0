// Finds the boxes of a list that have elements in common with a box.

#ifndef DOVETAIL_CORE_RESHARD_BOX_INDEX_H_
#define DOVETAIL_CORE_RESHARD_BOX_INDEX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/core/reshard/box.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

// Sorted along the dimension in which the boxes have the most different starts. A query takes
// O(log n) and the boxes whose ranges there overlap the query's, if the boxes do not overlap.
class BoxIndex {
 public:
  // The boxes have elements, and all the same rank. Their numbers are their places in the list.
  explicit BoxIndex(std::vector<Box> boxes);

  size_t size() const { return boxes_.size(); }
  const Box& operator[](size_t number) const { return boxes_[number]; }

  // Calls f(number, common box) for each box with elements in common, until it returns false.
  // False if it did.
  template <typename F>
  bool ForEachCommon(const Box& box, F&& f) const {
    const Range range = RangeOf(box);
    auto at = std::partition_point(sorted_.begin(), sorted_.end(), [&](const Entry& entry) {
      return entry.range.start < range.stop;
    });
    while (at != sorted_.begin()) {
      --at;
      if (at->latest_stop <= range.start) break;
      const std::optional<Box> common = Intersection(box, boxes_[at->number]);
      if (common && !f(at->number, *common)) return false;
    }
    return true;
  }

  // Two boxes with elements in common, if there are any.
  std::optional<std::pair<size_t, size_t>> FindOverlap() const;

  // Elements of the box that no box of the list has, if there are any.
  std::optional<Box> FindMissing(const Box& box) const;

 private:
  struct Entry {
    Range range;          // of the box, in dim_
    int64_t latest_stop;  // of this range and all before it
    size_t number;
  };

  Range RangeOf(const Box& box) const { return box.empty() ? Range{0, 1} : box[dim_]; }

  std::vector<Box> boxes_;
  size_t dim_ = 0;
  std::vector<Entry> sorted_;
};

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RESHARD_BOX_INDEX_H_
