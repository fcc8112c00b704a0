#include "dovetail/core/reshard/box_index.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

BoxIndex::BoxIndex(std::vector<Box> boxes) : boxes_(std::move(boxes)) {
  std::vector<int64_t> starts(boxes_.size());
  size_t most = 0;
  for (size_t dim = 0; !boxes_.empty() && dim < boxes_[0].size(); ++dim) {
    for (size_t i = 0; i < boxes_.size(); ++i) starts[i] = boxes_[i][dim].start;
    std::sort(starts.begin(), starts.end());
    const auto end = std::unique(starts.begin(), starts.end());
    const auto different = static_cast<size_t>(end - starts.begin());
    if (different > most) dim_ = dim, most = different;
  }
  sorted_.reserve(boxes_.size());
  for (size_t i = 0; i < boxes_.size(); ++i) sorted_.push_back({RangeOf(boxes_[i]), 0, i});
  std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.range, a.number) < std::pair(b.range, b.number);
  });
  int64_t latest = 0;
  for (Entry& entry : sorted_) entry.latest_stop = latest = std::max(latest, entry.range.stop);
}

std::optional<std::pair<size_t, size_t>> BoxIndex::FindOverlap() const {
  for (size_t i = 0; i < boxes_.size(); ++i) {
    size_t other = i;
    ForEachCommon(boxes_[i], [&](size_t number, const Box&) {
      if (number != i) other = number;
      return number == i;
    });
    if (other != i) return std::minmax(i, other);
  }
  return std::nullopt;
}

std::optional<Box> BoxIndex::FindMissing(const Box& box) const {
  if (NumElements(box) == 0) return std::nullopt;
  std::vector<Box> left = {box};
  while (!left.empty()) {
    Box next = std::move(left.back());
    left.pop_back();
    // Any box of the list takes its elements away. One that has none of them is missing.
    const bool is_missing = ForEachCommon(next, [&](size_t, const Box& common) {
      AppendDifference(next, common, &left);
      return false;
    });
    if (is_missing) return next;
  }
  return std::nullopt;
}

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
