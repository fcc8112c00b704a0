// The shape of the tiles of a copy (tiles.h), and the places where they lie.
//
//   TileShape shape;
//   if (!shape.Find(plan, {.run = 1024, .least = 16384, .most = 131072, .piece = 128})) …
//   for each place of shape.FindPlaces(/*streams=*/true) …
//
// A tile has some iterations of some of the plan's loops. A run is what lies without gaps in src,
// or in dst. The side with the shorter run takes the loop that continues it, until both runs are
// long. If that loop belongs to the other side already, and the tile is small, the run goes on
// through it. Plain values.

#ifndef DOVETAIL_DEVICES_CPU_COPY_TILE_SHAPE_H_
#define DOVETAIL_DEVICES_CPU_COPY_TILE_SHAPE_H_

#include <algorithm>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class TileShape {
 public:
  static constexpr int kMostLoops = 12;

  // How a tile lies in a buffer: its loops, the innermost first. Each begins where the one before
  // ends; only after the first `dense` loops there may be a gap. The first `in_run` loops lie in
  // the same way in src or dst, so they are copied at once.
  struct Layout {
    int loops[kMostLoops];
    int count = 0;
    int in_run = 0;
    int dense = 0;
    void Add(int loop) { loops[count++] = loop; }
    bool Has(int loop) const { return std::find(loops, loops + count, loop) != loops + count; }
  };

  // The places of the tiles, as loops over them. The first `along` continue a tile's runs in dst.
  struct Places {
    Loop loops[kMostLoops];
    int of[kMostLoops];  // the plan's loop that each goes along
    int rank = 0;
    int along = 0;
    int64_t bytes = 0;  // that continue each other in dst, through all tiles along it
  };

  // The sizes to reach, in bytes. A loop is cut into equal parts, so they are not exact.
  struct Sizes {
    int64_t run;    // of the runs on each side,
    int64_t least;  // and of a tile: runs become longer than `run` for this one,
    int64_t most;   // and shorter for this one
    int64_t piece;  // the shortest piece of src that a matrix has (packed())
  };

  // False if the plan has too many loops, or one side has no dense one.
  bool Find(const CopyPlan& plan, const Sizes& sizes);
  // streams: the tiles that continue each other in dst are consecutive.
  Places FindPlaces(bool streams) const;

  // The tile as it is packed from src. It is a matrix, so that loops merge: its columns are the
  // loops that src took, its rows those that dst took. If the pieces of src would be shorter than
  // Sizes::piece, or than half of it if an innermost loop is too short for vectors, it has whole
  // runs of src.
  const Layout& packed() const { return packed_; }
  // The tile as it is permuted for dst, in whole runs.
  const Layout& permuted() const { return permuted_; }
  // Bytes of a tile, of a run on each side, and of the part of a run in src that src took itself.
  int64_t bytes() const { return elements_ * unit_; }
  int64_t src_bytes() const { return src_.elements * unit_; }
  int64_t dst_bytes() const { return dst_.elements * unit_; }
  int64_t piece_bytes() const;
  // The loop that is cut on each side; -1 if all are whole.
  int cut_in_src() const { return src_.cut; }
  int cut_in_dst() const { return dst_.cut; }
  const Loop& loop(int i) const { return loops_[i]; }
  // Iterations of loop i in a tile; is_last: in the last tile of that loop.
  int64_t SizeOf(int i, bool is_last) const {
    const int64_t rest = loops_[i].count % size_[i];
    return is_last && rest != 0 ? rest : size_[i];
  }

 private:
  // A run: the loops of a tile that continue each other on one side, the innermost first. All but
  // the last are whole.
  struct Run {
    int64_t Loop::* step;
    int loops[kMostLoops] = {};
    int count = 0;
    int64_t elements = 1;
    int next = -1;  // the loop that would make it longer; -1: none
    int cut = -1;   // the last one, if it is cut
  };

  int FindStep(int64_t Loop::* step, int64_t bytes) const;
  bool MayPass(const Run& run, int passed, int loop) const;
  void Follow(Run* run) const;
  bool Extend(Run* run, int64_t wanted, int64_t most);
  bool ExtendShorter(int64_t wanted, int64_t most);
  void LayOut();

  int64_t unit_ = 1;
  int rank_ = 0;
  int64_t elements_ = 1;  // of a tile
  Loop loops_[kMostLoops];
  int64_t size_[kMostLoops];              // iterations in a tile
  const Run* taken_by_[kMostLoops] = {};  // null: not in the tile
  bool passes_ = false;                   // runs go on through the loops that the other one took
  bool is_matrix_ = false;                // the packed tile
  Run src_{&Loop::src_step}, dst_{&Loop::dst_step};
  Layout packed_, permuted_;
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_TILE_SHAPE_H_
