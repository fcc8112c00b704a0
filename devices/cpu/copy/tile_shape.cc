#include "dovetail/devices/cpu/copy/tile_shape.h"

#include <algorithm>

#include "dovetail/core/internal/divided_loop.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

using internal_loop_nest::CeilDivide;

// The loop with this step; -1 if there is none.
int TileShape::FindStep(int64_t Loop::* step, int64_t bytes) const {
  int i = rank_ - 1;
  while (i >= 0 && loops_[i].*step != bytes) --i;
  return i;
}

// Whether a run goes on through `loop`, which the other one took. (A loop that is too short for
// vectors must merge with the next one, so both lie in the order of src. The run of dst, which has
// passed `passed` loops so far, keeps to this order then.)
bool TileShape::MayPass(const Run& run, int passed, int loop) const {
  if (!passes_ || &run == &src_) return passes_;
  int next = 0;
  while (next < src_.count && (taken_by_[src_.loops[next]] != &src_ || passed-- > 0)) ++next;
  if (next < src_.count && src_.loops[next] == loop) return true;
  const bool is_short_in_src = size_[src_.loops[0]] * unit_ < kLaneBytes;
  return run.elements * unit_ >= kLaneBytes && !(is_short_in_src && is_matrix_);
}

int64_t TileShape::piece_bytes() const {
  int64_t bytes = unit_;
  for (int k = 0; k < src_.count && taken_by_[src_.loops[k]] == &src_; ++k) {
    bytes *= size_[src_.loops[k]];
  }
  return bytes;
}

// Finds the loops of a run, among those that are taken.
void TileShape::Follow(Run* run) const {
  int passed = 0;
  run->count = 0;
  run->elements = 1;
  run->cut = -1;
  for (;;) {
    const int next = run->next = FindStep(run->step, run->elements * unit_);
    if (next < 0 || taken_by_[next] == nullptr) return;
    if (taken_by_[next] != run && !MayPass(*run, passed++, next)) {
      run->next = -1;
      return;
    }
    run->loops[run->count++] = next;
    run->elements *= size_[next];
    if (size_[next] == loops_[next].count) continue;
    run->cut = next;
    if (taken_by_[next] != run) run->next = -1;
    return;
  }
}

// Takes the loop that makes `run` longer, or more of it: up to `wanted` elements in the run, and
// `most` in the tile. False if there is none or the run is long enough.
bool TileShape::Extend(Run* run, int64_t wanted, int64_t most) {
  const int i = run->next;
  if (i < 0 || run->elements * 2 > wanted) return false;
  const int64_t size = size_[i], count = loops_[i].count;
  const int64_t fit = std::min(wanted * size / run->elements, most * size / elements_);
  if (fit < 2 * size) return false;
  taken_by_[i] = run;
  size_[i] = CeilDivide(count, CeilDivide(3 * count, 4 * fit));
  elements_ = elements_ / size * size_[i];
  Follow(&src_);
  Follow(&dst_);
  return true;
}

bool TileShape::ExtendShorter(int64_t wanted, int64_t most) {
  const bool dst_first = dst_.elements <= src_.elements;
  Run *const first = dst_first ? &dst_ : &src_, *const second = dst_first ? &src_ : &dst_;
  return Extend(first, wanted, most) || Extend(second, wanted, most);
}

void TileShape::LayOut() {
  const auto add = [this](const Run& run, const Run* by, Layout* layout) {
    for (int k = 0; k < run.count; ++k) {
      const int i = run.loops[k];
      if ((by == nullptr || taken_by_[i] == by) && !layout->Has(i)) layout->Add(i);
    }
  };
  add(src_, is_matrix_ ? &src_ : nullptr, &packed_);
  packed_.dense = packed_.count;
  // (Both begin with the same loops.)
  while (packed_.in_run < packed_.dense &&
         packed_.loops[packed_.in_run] == src_.loops[packed_.in_run]) {
    ++packed_.in_run;
  }
  add(dst_, nullptr, &packed_);
  add(src_, nullptr, &packed_);
  add(dst_, nullptr, &permuted_);
  permuted_.dense = permuted_.in_run = permuted_.count;
  add(src_, nullptr, &permuted_);
}

bool TileShape::Find(const CopyPlan& plan, const Sizes& sizes) {
  unit_ = plan.unit();
  for (int i = 0; i < plan.rank; ++i) {
    if (plan.loops[i].count == 1) continue;  // (of a part of a plan)
    if (rank_ == kMostLoops) return false;
    loops_[rank_++] = plan.loops[i];
  }
  std::fill(size_, size_ + rank_, 1);
  Follow(&src_);
  Follow(&dst_);
  while (ExtendShorter(sizes.run / unit_, sizes.most / unit_)) {
  }
  passes_ = true;
  if (src_.count == 0 || dst_.count == 0) return false;
  const int64_t innermost = std::min(size_[src_.loops[0]], size_[dst_.loops[0]]);
  const bool must_merge = innermost * unit_ < kLaneBytes;
  is_matrix_ = piece_bytes() >= (must_merge ? sizes.piece / 2 : sizes.piece);
  Follow(&src_);
  Follow(&dst_);
  while (elements_ * unit_ < sizes.least &&
         ExtendShorter(sizes.least / unit_, sizes.least / unit_)) {
  }
  LayOut();
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
    int64_t bytes = unit_;
    const auto follow = [&](int i) {
      bytes = loops_[i].dst_step * loops_[i].count;
      insert(i, places.rank);
    };
    for (int k = 0; k < dst_.count; ++k) follow(dst_.loops[k]);
    for (int i; (i = FindStep(&Loop::dst_step, bytes)) >= 0 && taken_by_[i] == nullptr;) follow(i);
    places.along = places.rank;
    places.bytes = bytes;
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
