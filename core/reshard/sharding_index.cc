#include "dovetail/core/reshard/sharding_index.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "dovetail/core/reshard/box.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {
namespace {

// Different boxes of the parts, in the order of their first rank.
std::vector<Box> DifferentBoxes(const Sharding& sharding, std::vector<size_t>* box_of_part) {
  std::vector<Box> boxes;
  absl::flat_hash_map<std::string, size_t> numbers;
  for (const Part& part : sharding.parts()) {
    const auto [at, is_new] = numbers.try_emplace(BoxToString(part.box), boxes.size());
    if (is_new) boxes.push_back(part.box);
    box_of_part->push_back(at->second);
  }
  return boxes;
}

}  // namespace

ShardingIndex::ShardingIndex(Sharding s)
    : sharding(std::move(s)), boxes(DifferentBoxes(sharding, &box_of_part)) {
  parts.resize(boxes.size());
  for (size_t i = 0; i < box_of_part.size(); ++i) parts[box_of_part[i]].push_back(i);
}

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
