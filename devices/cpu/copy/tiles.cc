#include "dovetail/devices/cpu/copy/tiles.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/tile_shape.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of a tile's runs in src, and of those in dst, for which tiles are faster than
// single elements.
constexpr int64_t kLeastOfSrcRun = 24;
constexpr int64_t kLeastOfDstRun = 8;
// The widest elements for which they are, if dst is not streamed.
constexpr int64_t kWidestCached = 4;
// The least bytes that continue each other in dst for which streaming pays.
constexpr int64_t kShortestStreamed = 512;

// Both buffers together fit the L2 cache.
constexpr TileShape::Sizes kSizes = {
    .run = 1024, .least = 16 << 10, .most = 128 << 10, .piece = 128};
constexpr int64_t kBufferBytes = 4 * kSizes.most;
constexpr int64_t kMostRuns = 4096;
// Bytes that are written between two prefetches.
constexpr int64_t kPiece = 512;

// The runs of a tile in memory, and where they lie in a buffer.
struct Runs {
  int64_t count = 0;
  int64_t bytes = 0;  // of each
  struct Offsets {
    int64_t memory, buffer;
  } at[kMostRuns];
};

// The tiles of one size.
struct Tile {
  bool is_made = false;
  Runs src, dst;
  CopyPlan plan;  // from the packed tile to the permuted one

  // False if it has too many runs, or does not fit the buffers. is_last: whether the tile is the
  // last one of each loop.
  bool Make(const TileShape& shape, const bool* is_last, int64_t unit) {
    int64_t packed[TileShape::kMostLoops], permuted[TileShape::kMostLoops];
    is_made = LayOut(shape, shape.packed(), &Loop::src_step, is_last, unit, packed, &src) &&
              LayOut(shape, shape.permuted(), &Loop::dst_step, is_last, unit, permuted, &dst);
    if (!is_made) return false;
    const TileShape::Layout& layout = shape.permuted();
    for (int k = 0; k < layout.count; ++k) {
      const int i = layout.loops[k];
      plan.Add({shape.SizeOf(i, is_last[i]), permuted[i], packed[i]});
    }
    plan.Finish(unit);
    return true;
  }

 private:
  static bool LayOut(const TileShape& shape, const TileShape::Layout& layout,
                     int64_t Loop::* memory_step, const bool* is_last, int64_t unit,
                     int64_t* buffer_steps, Runs* runs) {
    Loop loops[TileShape::kMostLoops];
    int64_t bytes = unit;
    runs->count = 1;
    for (int k = 0; k < layout.count; ++k) {
      const int i = layout.loops[k];
      const int64_t size = shape.SizeOf(i, is_last[i]);
      if (k == layout.in_run) runs->bytes = bytes;
      // (A gap lets the runs fall into all sets of the cache.)
      if (k == layout.dense && bytes % 256 == 0) bytes += 2 * kLaneBytes;
      if (k >= layout.in_run) {
        loops[k - layout.in_run] = {size, bytes, shape.loop(i).*memory_step};
        runs->count *= size;
      }
      buffer_steps[i] = bytes;
      bytes *= size;
    }
    if (layout.in_run == layout.count) runs->bytes = bytes;
    if (runs->count > kMostRuns || bytes > kBufferBytes) return false;
    Odometer at(loops, layout.count - layout.in_run);
    for (int64_t i = 0; i < runs->count; ++i, at.Next()) runs->at[i] = {at.src, at.dst};
    return true;
  }
};

struct Buffers {
  Tile tiles[4];                 // cut or not in src, and in dst
  LineCarry carried[kMostRuns];  // of each run in dst
  alignas(64) char packed[kBufferBytes];
  alignas(64) char line_before[kLine];  // is carried to the first run
  char permuted[kBufferBytes];
};

class Tiles {
 public:
  Tiles(const CopyPlan& plan, const TileShape& shape, const TileShape::Places& places,
        const Kernels& kernels, bool streams, Buffers* buffers)
      : shape_(shape),
        places_(places),
        kernels_(kernels),
        unit_(plan.unit()),
        streams_(streams),
        buffers_(*buffers) {}

  void Copy(char* dst, const char* src) {
    Odometer at(places_.loops, places_.rank), ahead = at;
    bool more;
    do {
      bool is_first_part = true, is_last_part = true;
      for (int k = 0; k < places_.rank; ++k) {
        const bool is_last = at.index(k) + 1 == places_.loops[k].count;
        is_last_[places_.of[k]] = is_last;
        if (k >= places_.along) continue;
        is_first_part = is_first_part && at.index(k) == 0;
        is_last_part = is_last_part && is_last;
      }
      TakeTile();
      more = ahead.Next();
      next_src_ = more ? src + ahead.src : nullptr;
      next_dst_ = more && !streams_ ? dst + ahead.dst : nullptr;
      next_run_ = in_run_ = to_prefetch_ = 0;
      Pack(src + at.src);
      const CopyPlan& plan = tile_->plan;
      ExecuteCached(plan.kernel, plan.unit_log2, plan.loops, plan.rank, buffers_.permuted,
                    buffers_.packed, kernels_);
      Write(dst + at.dst, is_first_part, is_last_part);
    } while (at.Next());
  }

 private:
  // Takes the tile of the size at this place.
  void TakeTile() {
    const auto is_cut = [this](int loop) { return loop >= 0 && is_last_[loop] ? 1 : 0; };
    tile_ = &buffers_.tiles[2 * is_cut(shape_.cut_in_src()) + is_cut(shape_.cut_in_dst())];
    if (!tile_->is_made) tile_->Make(shape_, is_last_, unit_);  // (fits, as the whole one does)
  }

  void Pack(const char* src) {
    const Runs& runs = tile_->src;
    for (int64_t i = 0; i < runs.count; ++i) {
      std::memcpy(buffers_.packed + runs.at[i].buffer, src + runs.at[i].memory, runs.bytes);
    }
  }

  // Prefetches about `bytes` more bytes of the next tile.
  void Prefetch(int64_t bytes) {
    if (next_src_ == nullptr) return;
    const Runs& runs = tile_->src;
    for (to_prefetch_ += bytes; to_prefetch_ > 0 && next_run_ < runs.count; to_prefetch_ -= kLine) {
      const char* const run = next_src_ + runs.at[next_run_].memory;
      PrefetchLine(run + in_run_, Cache::kL2);
      in_run_ += kLine;
      const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(run) % kLine);
      if (in_run_ < runs.bytes + past_line) continue;
      in_run_ = 0;
      ++next_run_;
    }
  }

  // Writes the tile, and prefetches a share of the next one with each piece: all at once would wait
  // for memory while nothing is written. is_first, is_last: of the tiles along a run of dst.
  void Write(char* dst, bool is_first, bool is_last) {
    const Runs& runs = tile_->dst;
    const int64_t piece = std::min(kPiece, runs.bytes);
    const auto prefetch = [this, piece] { Prefetch(piece); };
    for (int64_t i = 0; i < runs.count; ++i) {
      const auto [offset, in_buffer] = runs.at[i];
      char* const from = buffers_.permuted + in_buffer;
      if (streams_) {
        WritePart<kPiece>(dst + offset, from, runs.bytes, is_first, is_last, kernels_,
                          &buffers_.carried[i], prefetch);
      } else {
        const char* const next = next_dst_ == nullptr ? nullptr : next_dst_ + offset;
        WriteCached(dst + offset, from, runs.bytes, next, prefetch);
      }
    }
    Prefetch(tile_->src.count * (tile_->src.bytes + kLine));
  }

  template <class F>
  static void WriteCached(char* to, const char* from, int64_t bytes, const char* next, F prefetch) {
    for (int64_t i = 0; i < bytes; i += kPiece) {
      prefetch();
      if (next != nullptr) PrefetchLine(next + i, Cache::kL2);
      std::memcpy(to + i, from + i, std::min(kPiece, bytes - i));
    }
  }

  const TileShape& shape_;
  const TileShape::Places& places_;
  const Kernels& kernels_;
  const int64_t unit_;
  const bool streams_;
  Buffers& buffers_;
  bool is_last_[TileShape::kMostLoops] = {};
  Tile* tile_ = nullptr;
  // Of the next tile:
  const char* next_src_ = nullptr;
  const char* next_dst_ = nullptr;
  int64_t next_run_ = 0, in_run_ = 0, to_prefetch_ = 0;
};

}  // namespace

bool CopyByTiles(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                 bool streams) {
  TileShape shape;
  const int64_t unit = plan.unit();
  if ((!streams && unit > kWidestCached) || !shape.Find(plan, kSizes)) return false;
  if (shape.src_bytes() < kLeastOfSrcRun || shape.dst_bytes() < kLeastOfDstRun) return false;
  // Single elements, too, read in order what is short but follows each other.
  if (shape.piece_bytes() < kLeastOfSrcRun && shape.src_bytes() == shape.bytes()) return false;
  TileShape::Places places = shape.FindPlaces(streams);
  if (streams && (places.bytes < kShortestStreamed || shape.dst_bytes() < kLine)) {
    if (unit > kWidestCached) return false;
    streams = false;
    places = shape.FindPlaces(false);
  }
  const std::unique_ptr<Buffers> buffers(new (std::nothrow) Buffers);
  constexpr bool kWhole[TileShape::kMostLoops] = {};
  if (buffers == nullptr || !buffers->tiles[0].Make(shape, kWhole, unit)) return false;
  const bool is_by_elements = buffers->tiles[0].plan.kernel == CopyKernel::kElements;
  if (is_by_elements && shape.piece_bytes() < kLaneBytes) return false;
  Tiles(plan, shape, places, kernels, streams, buffers.get()).Copy(dst, src);
  if (streams) kernels.stream_done();
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
