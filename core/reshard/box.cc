#include "dovetail/core/reshard/box.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

Box WholeBox(absl::Span<const int64_t> shape) {
  Box whole;
  for (const int64_t size : shape) whole.push_back({0, size});
  return whole;
}

int64_t NumElements(const Box& box) {
  int64_t count = 1;
  for (const Range& range : box) {
    if (range.stop <= range.start) return 0;
    count *= range.size();
  }
  return count;
}

std::optional<Box> Intersection(const Box& a, const Box& b) {
  Box common = a;
  for (size_t i = 0; i < a.size(); ++i) {
    common[i].start = std::max(a[i].start, b[i].start);
    common[i].stop = std::min(a[i].stop, b[i].stop);
    if (common[i].stop <= common[i].start) return std::nullopt;
  }
  return common;
}

void AppendDifference(const Box& box, const Box& hole, std::vector<Box>* result) {
  const std::optional<Box> common = Intersection(box, hole);
  if (!common) return result->push_back(box);
  // What is before and behind the hole in a dimension, within its ranges of the dimensions before.
  Box rest = box;
  for (size_t i = 0; i < box.size(); ++i) {
    if (rest[i].start < (*common)[i].start) {
      result->push_back(rest);
      result->back()[i].stop = (*common)[i].start;
    }
    if ((*common)[i].stop < rest[i].stop) {
      result->push_back(rest);
      result->back()[i].start = (*common)[i].stop;
    }
    rest[i] = (*common)[i];
  }
}

std::string BoxToString(const Box& box) {
  return absl::StrCat("[",
                      absl::StrJoin(box, ", ",
                                    [](std::string* out, const Range& range) {
                                      absl::StrAppend(out, range.start, ":", range.stop);
                                    }),
                      "]");
}

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
