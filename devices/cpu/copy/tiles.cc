#include "dovetail/devices/cpu/copy/tiles.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/rows.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/tile_shape.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of a tile's rows in src, and of those in dst, for which tiles are faster than
// single elements.
constexpr int64_t kLeastOfSrcRow = 24;
constexpr int64_t kLeastOfDstRow = 8;
// The widest elements for which they are, if dst is not streamed.
constexpr int64_t kWidestCached = 4;
// The least bytes that continue each other in dst for which streaming pays.
constexpr int64_t kShortestRun = 512;

// The bytes that a tile should have along src and along dst, and in all: what is packed and what is
// transposed fit the L2 cache together.
constexpr int64_t kSrcBytes = 512;
constexpr int64_t kDstBytes = 512;
constexpr int64_t kTileBytes = 64 << 10;
// Bytes that are written between two prefetches.
constexpr int64_t kPiece = 512;

constexpr int64_t kMostRows = 2 * kDstBytes;
constexpr int64_t kMostColumns = 2 * kSrcBytes;
constexpr int64_t kBufferBytes = 3 * kTileBytes;

int64_t WholeLanes(int64_t bytes) { return (bytes + kLaneBytes - 1) / kLaneBytes * kLaneBytes; }

// From row to row of a buffer: such that they fall into all sets of the cache.
int64_t Pitch(int64_t row_bytes) {
  const int64_t pitch = WholeLanes(row_bytes);
  return pitch % 256 == 0 ? pitch + 2 * kLaneBytes : pitch;
}

// A tile as a matrix, row-major in src and column-major in dst, and its rows as they lie in src.
struct Matrix {
  int64_t rows = 0, columns = 0;
  int64_t row_src[kMostRows];        // the offset of each row in src
  int64_t column_dst[kMostColumns];  // that of each column in dst
  alignas(64) char packed[kBufferBytes];

  // Takes the tile's size.
  void Resize(const TileShape& shape, const bool* is_last) {
    Loop loops[TileShape::kMostLoops];
    const auto offsets = [&](const TileShape::Side& side, bool in_dst, int64_t* to) {
      for (int k = 0; k < side.count; ++k) {
        const int i = side.loops[k];
        const Loop& loop = shape.loop(i);
        loops[k] = {shape.SizeOf(i, is_last[i]), 0, in_dst ? loop.dst_step : loop.src_step};
      }
      Odometer at(loops, side.count);
      int64_t count = 0;
      do {
        to[count++] = at.src;
      } while (at.Next());
      return count;
    };
    rows = offsets(shape.along_dst(), false, row_src);
    columns = offsets(shape.along_src(), true, column_dst);
  }
};

struct Buffers {
  Matrix matrix;
  alignas(64) char transposed[kBufferBytes];  // its columns as they lie in dst
  LineCarry carried[kMostColumns];            // what fills no line of them yet
};

class Tiles {
 public:
  Tiles(const CopyPlan& plan, const TileShape& shape, const TileShape::Places& places,
        const Kernels& kernels, bool streams, Buffers* buffers)
      : shape_(shape),
        places_(places),
        kernels_(kernels),
        transpose_(EntryOf(kernels.cached, CopyKernel::kTranspose, plan.unit_log2)),
        unit_(plan.unit()),
        streams_(streams),
        m_(buffers->matrix),
        buffers_(buffers) {}

  void Copy(char* dst, const char* src) {
    bool is_last[TileShape::kMostLoops] = {};
    m_.Resize(shape_, is_last);
    Odometer at(places_.loops, places_.rank), ahead = at;
    bool more;
    do {
      bool changes = false, is_first_part = true, is_last_part = true;
      for (int k = 0; k < places_.rank; ++k) {
        bool& was = is_last[places_.of[k]];
        const bool is = at.index(k) + 1 == places_.loops[k].count;
        changes = changes || is != was;
        was = is;
        if (k >= places_.along) continue;
        is_first_part = is_first_part && at.index(k) == 0;
        is_last_part = is_last_part && is;
      }
      if (changes) m_.Resize(shape_, is_last);
      more = ahead.Next();
      next_src_ = more ? src + ahead.src : nullptr;
      next_dst_ = more && !streams_ ? dst + ahead.dst : nullptr;
      next_row_ = 0;
      Pack(src + at.src);
      Write(dst + at.dst, is_first_part, is_last_part);
    } while (at.Next());
  }

 private:
  void Pack(const char* src) {
    const int64_t bytes = m_.columns * unit_, pitch = Pitch(bytes);
    for (int64_t r = 0; r < m_.rows; ++r) {
      std::memcpy(m_.packed + r * pitch, src + m_.row_src[r], bytes);
    }
  }

  // Prefetches further rows of the next tile.
  void Prefetch(int64_t rows) {
    if (next_src_ == nullptr) return;
    for (const int64_t end = std::min(next_row_ + rows, m_.rows); next_row_ < end; ++next_row_) {
      PrefetchRow(next_src_ + m_.row_src[next_row_], m_.columns * unit_, Cache::kL2);
    }
  }

  // Transposes and writes the tile, and prefetches a share of the next one with each part: all at
  // once would wait for memory while nothing is written. is_first, is_last: of the tiles along a
  // run of dst.
  void Write(char* dst, bool is_first, bool is_last) {
    // (Rows and columns that fill up a lane are never written.)
    const int64_t lanes = kLaneBytes / unit_, bytes = m_.rows * unit_;
    const bool joins = shape_.is_joined();
    const int64_t pitch = joins ? bytes : Pitch(bytes);
    char* const transposed = buffers_->transposed;
    transpose_({.dst = transposed,
                .src = m_.packed,
                .inner = {std::max(m_.rows, lanes), unit_, Pitch(m_.columns * unit_)},
                .outer = {std::max(m_.columns, lanes), pitch, unit_}});
    if (joins) {
      const int64_t all = bytes * m_.columns, parts = (all + kPiece - 1) / kPiece;
      for (int64_t i = 0; i < all; i += kPiece) {
        Prefetch((m_.rows + parts - 1) / parts);
        WritePart(dst + i, transposed + i, std::min(kPiece, all - i), &buffers_->carried[0],
                  is_first && i == 0, is_last && i + kPiece >= all);
      }
    } else {
      for (int64_t k = 0; k < m_.columns; ++k) {
        Prefetch((m_.rows + m_.columns - 1) / m_.columns);
        if (next_dst_ != nullptr) PrefetchLine(next_dst_ + m_.column_dst[k], Cache::kL2);
        WritePart(dst + m_.column_dst[k], transposed + k * pitch, bytes, &buffers_->carried[k],
                  is_first, is_last);
      }
    }
    Prefetch(m_.rows);
  }

  void WritePart(char* dst, const char* from, int64_t bytes, LineCarry* carry, bool is_first,
                 bool is_last) const {
    if (!streams_) {
      std::memcpy(dst, from, bytes);
      return;
    }
    cpu::WritePart(dst, from, bytes, is_first, kernels_, carry);
    if (is_last) carry->Finish(dst + bytes);
  }

  const TileShape& shape_;
  const TileShape::Places& places_;
  const Kernels& kernels_;
  const BlockKernel transpose_;
  const int64_t unit_;
  const bool streams_;
  Matrix& m_;
  Buffers* const buffers_;
  const char* next_src_ = nullptr;
  const char* next_dst_ = nullptr;
  int64_t next_row_ = 0;
};

}  // namespace

bool CopyByTiles(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                 bool streams) {
  TileShape shape;
  const int64_t unit = plan.unit(), lanes = kLaneBytes / unit;
  if (!shape.Find(plan, kSrcBytes, kDstBytes, kTileBytes)) return false;
  if (!streams && unit > kWidestCached) return false;
  const int64_t rows = shape.along_dst().elements, columns = shape.along_src().elements;
  if (columns * unit < kLeastOfSrcRow || rows * unit < kLeastOfDstRow || rows > kMostRows ||
      columns > kMostColumns ||
      (std::max(rows, lanes) + 1) * Pitch(columns * unit) > kBufferBytes ||
      columns * Pitch(rows * unit) > kBufferBytes) {
    return false;
  }
  TileShape::Places places = shape.FindPlaces(streams);
  if (streams && places.run < kShortestRun) {
    if (unit > kWidestCached) return false;
    streams = false;
    places = shape.FindPlaces(false);
  }
  const std::unique_ptr<Buffers> buffers(new (std::nothrow) Buffers);
  if (buffers == nullptr) return false;
  Tiles(plan, shape, places, kernels, streams, buffers.get()).Copy(dst, src);
  if (streams) kernels.stream_done();
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
