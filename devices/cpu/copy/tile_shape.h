// The shape of the tiles of a copy (tiles.h), and the places where they lie.

#ifndef DOVETAIL_DEVICES_CPU_COPY_TILE_SHAPE_H_
#define DOVETAIL_DEVICES_CPU_COPY_TILE_SHAPE_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

class TileShape {
 public:
  static constexpr int kMostLoops = 12;

  // The loops of one side of a tile, the innermost first. The last one may be cut.
  struct Side {
    int64_t Loop::* step;
    int loops[kMostLoops] = {};
    int count = 0;
    int64_t elements = 1;
  };

  // The places of the tiles, as loops over them. The first `along` continue a tile's run in dst.
  struct Places {
    Loop loops[kMostLoops];
    int of[kMostLoops];  // the plan's loop that each goes along
    int rank = 0;
    int along = 0;
    int64_t run = 0;  // bytes that continue each other in dst, through all tiles along it
  };

  // Finds the sides, of about these bytes; a run is cut into equal parts of two thirds to four
  // thirds of them. False if the plan has too many loops.
  bool Find(const CopyPlan& plan, int64_t src_bytes, int64_t dst_bytes, int64_t tile_bytes);
  // streams: the tiles that continue each other in dst are consecutive.
  Places FindPlaces(bool streams) const;

  const Side& along_src() const { return along_src_; }
  const Side& along_dst() const { return along_dst_; }
  const Loop& loop(int i) const { return loops_[i]; }
  // Whether the columns continue each other in dst, in the order of src.
  bool is_joined() const { return joins_; }
  // Iterations of loop i in a tile; is_last: in the last tile of that loop.
  int64_t SizeOf(int i, bool is_last) const {
    const int64_t rest = loops_[i].count % size_[i];
    return is_last && rest != 0 ? rest : size_[i];
  }

 private:
  bool Extend(Side* side, int64_t wanted);
  bool IsWhole(int i) const { return size_[i] == loops_[i].count; }

  int64_t unit_ = 1;
  int rank_ = 0;
  bool joins_ = false;
  Loop loops_[kMostLoops];
  int64_t size_[kMostLoops];         // iterations in a tile
  bool is_taken_[kMostLoops] = {};   // by a side
  Side along_src_{&Loop::src_step};  // rows of a tile
  Side along_dst_{&Loop::dst_step};  // columns of a tile
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_TILE_SHAPE_H_
