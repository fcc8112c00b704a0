// A box: a block of a tensor's elements, a range in each dimension.
//
//   Box box = {{0, 4}, {2, 6}};                   // rows 0 to 3, columns 2 to 5
//   std::optional<Box> common = Intersection(box, other);

#ifndef DOVETAIL_CORE_RESHARD_BOX_H_
#define DOVETAIL_CORE_RESHARD_BOX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

// The indices start to stop - 1. Not empty if it is a range of a Box that has elements.
struct Range {
  int64_t start = 0;
  int64_t stop = 0;

  int64_t size() const { return stop - start; }
  friend bool operator==(const Range&, const Range&) = default;
  friend auto operator<=>(const Range&, const Range&) = default;
};

// A Box of rank 0 has one element.
using Box = absl::InlinedVector<Range, 4>;

// All elements of a tensor.
Box WholeBox(absl::Span<const int64_t> shape);

// 0 if a range is empty. The number of elements of the whole tensor must fit an int64.
int64_t NumElements(const Box& box);

// The elements that both boxes have; nullopt if there are none. Both have the same rank.
std::optional<Box> Intersection(const Box& a, const Box& b);

// Appends boxes with the elements of `box` that `hole` lacks, each once: at most two a dimension.
void AppendDifference(const Box& box, const Box& hole, std::vector<Box>* result);

// "[0:4, 2:6]", as slices in Python.
std::string BoxToString(const Box& box);

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RESHARD_BOX_H_
