// A sharding whose parts with the same box are found together.

#ifndef DOVETAIL_CORE_RESHARD_SHARDING_INDEX_H_
#define DOVETAIL_CORE_RESHARD_SHARDING_INDEX_H_

#include <cstddef>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/core/reshard/box_index.h"
#include "dovetail/core/reshard/sharding.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

struct ShardingIndex {
  explicit ShardingIndex(Sharding s);

  Sharding sharding;
  std::vector<size_t> box_of_part;         // for each of sharding.parts(), the number of its box
  BoxIndex boxes;                          // all different, in the order of their first parts
  std::vector<std::vector<size_t>> parts;  // for each box, those of sharding.parts(), ascending
};

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RESHARD_SHARDING_INDEX_H_
