#include "dovetail/devices/cpu/copy/tile_shape.h"

#include <algorithm>

#include "dovetail/core/internal/divided_loop.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

using internal_loop_nest::CeilDivide;

// Takes the loop that continues the side into it. False if there is none or it is long enough.
bool TileShape::Extend(Side* side, int64_t wanted) {
  if (side->elements * 2 > wanted) return false;
  int64_t next = unit_;
  if (side->count > 0) {
    const int last = side->loops[side->count - 1];
    if (!IsWhole(last)) return false;
    next = loops_[last].*(side->step) * loops_[last].count;
  }
  int found = -1;
  for (int i = 0; i < rank_; ++i) {
    if (!is_taken_[i] && loops_[i].*(side->step) == next) found = i;
  }
  if (found < 0) return false;
  const int64_t count = loops_[found].count;
  const int64_t parts = (2 * count * side->elements + wanted) / (3 * wanted);
  is_taken_[found] = true;
  size_[found] = parts > 1 ? CeilDivide(count, parts) : count;
  side->loops[side->count++] = found;
  side->elements *= size_[found];
  return true;
}

bool TileShape::Find(const CopyPlan& plan, int64_t src_bytes, int64_t dst_bytes,
                     int64_t tile_bytes) {
  if (plan.rank < 2 || plan.rank > kMostLoops) return false;
  unit_ = plan.unit();
  rank_ = plan.rank;
  std::copy(plan.loops, plan.loops + rank_, loops_);
  std::fill(size_, size_ + rank_, 1);
  const int64_t most = tile_bytes / unit_;
  const auto extend_dst = [&] {
    return Extend(&along_dst_, std::min(dst_bytes / unit_, most / along_src_.elements));
  };
  const auto extend_src = [&] {
    return Extend(&along_src_, std::min(src_bytes / unit_, most / along_dst_.elements));
  };
  for (bool more = true; more;) {  // the shorter side takes the next loop
    const bool dst_first = along_dst_.elements <= along_src_.elements;
    more = dst_first ? extend_dst() || extend_src() : extend_src() || extend_dst();
  }
  bool is_whole = true;
  for (int k = 0; k < along_dst_.count; ++k) is_whole = is_whole && IsWhole(along_dst_.loops[k]);
  joins_ = is_whole && along_src_.count == 1 && along_dst_.elements * unit_ >= kLaneBytes &&
           loops_[along_src_.loops[0]].dst_step == along_dst_.elements * unit_;
  return true;
}

TileShape::Places TileShape::FindPlaces(bool streams) const {
  Places places;
  bool is_done[kMostLoops] = {};
  const auto insert = [&](int i, int at) {
    const int64_t count = CeilDivide(loops_[i].count, size_[i]);
    is_done[i] = true;
    if (count == 1) return;
    for (int k = places.rank++; k > at; --k) {
      places.loops[k] = places.loops[k - 1];
      places.of[k] = places.of[k - 1];
    }
    places.loops[at] = {count, loops_[i].dst_step * size_[i], loops_[i].src_step * size_[i]};
    places.of[at] = i;
  };
  if (streams) {
    int64_t run = unit_;
    const auto follow = [&](int i) {
      run = loops_[i].dst_step * loops_[i].count;
      insert(i, places.rank);
    };
    for (int k = 0; k < along_dst_.count; ++k) follow(along_dst_.loops[k]);
    if (joins_) follow(along_src_.loops[0]);
    for (bool more = true; more;) {
      more = false;
      for (int i = 0; i < rank_; ++i) {
        if (is_done[i] || is_taken_[i] || loops_[i].dst_step != run) continue;
        follow(i);
        more = true;
      }
    }
    places.along = places.rank;
    places.run = run;
  }
  for (int i = 0; i < rank_; ++i) {
    if (is_done[i]) continue;
    const Loop loop{0, loops_[i].dst_step * size_[i], loops_[i].src_step * size_[i]};
    int at = places.rank;
    while (at > places.along && Cost(loop) < Cost(places.loops[at - 1])) --at;
    insert(i, at);
  }
  return places;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
