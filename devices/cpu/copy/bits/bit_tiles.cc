#include "dovetail/devices/cpu/copy/bits/bit_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/bits/bit_runs.h"
#include "dovetail/devices/cpu/copy/bits/bit_squares.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/plan.h"
#include "dovetail/devices/cpu/large_work.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using internal_loop_nest::Loop;
using internal_loop_nest::Odometer;

// Elements along each edge: two tiles of bytes fit the stack and the L1 cache. Rows of a tile are a
// little longer, so that they do not all fall into the same sets of it.
constexpr int64_t kEdge = 112;
constexpr int64_t kPitch = 128;
// Tiles of joined rows, in bytes: runs of dst, whose lines are written side by side, and runs of a
// few lines of src.
constexpr int64_t kJoinedRows = 256;
constexpr int64_t kJoinedColumns = 192;
// Elements of a tile from which it pays.
constexpr int64_t kWorth = 32;

}  // namespace

BitTiles::BitTiles(const Loop* loops, int rank, int64_t bits, int64_t cleared)
    : loops_(loops), rank_(rank), bits_(bits), cleared_(cleared) {
  for (int i = 0; i < rank; ++i) elements_ *= loops[i].count;
  for (int i = 1; i < rank; ++i) {
    if (std::abs(loops[i].dst_step) < std::abs(loops[in_dst_].dst_step)) in_dst_ = i;
    if (std::abs(loops[i].src_step) < std::abs(loops[in_src_].src_step)) in_src_ = i;
  }
}

bool BitTiles::IsWorth() const {
  if (rank_ == 0 || bits_ >= 8 || bits_ + cleared_ > 8) return false;
  for (int i = 0; i < rank_; ++i) {
    if (loops_[i].dst_step == 0) return false;
  }
  const int64_t across = in_dst_ == in_src_ ? 1 : std::min(loops_[in_src_].count, kEdge);
  return std::min(loops_[in_dst_].count, kEdge) * across >= kWorth;
}

bool BitTiles::Copy(unsigned char* dst, const unsigned char* src) const {
  const LargeWork work(elements_);
  const int at = work.most_parts() == 1 ? -1 : LoopToDivide();
  if (at < 0) {
    CopyPart(loops_, {dst, src, 0, 0});
    return true;
  }
  const internal_loop_nest::DividedLoop parts =
      internal_loop_nest::Divide(loops_[at], work.most_parts(), at == in_src_ ? kEdge : 1);
  return work.Run(parts.count(), [&](int64_t part) {
    Loop loops[internal_loop_nest::kMaxLoops];
    std::copy(loops_, loops_ + rank_, loops);
    loops[at] = parts.Part(part);
    const int64_t begin = parts.BeginOf(part);
    CopyPart(loops, {dst, src, begin * parts.loop().dst_step, begin * parts.loop().src_step});
  });
}

// The loop with the most iterations, of those whose parts write no byte in common; -1 without one.
// That is so if every row of dst begins with a byte of its own.
int BitTiles::LoopToDivide() const {
  int best = -1;
  for (int i = 0; i < rank_; ++i) {
    if (i == in_dst_) continue;
    if (loops_[i].dst_step % 8 != 0) return -1;
    if (best < 0 || loops_[i].count > loops_[best].count) best = i;
  }
  return std::abs(loops_[in_dst_].dst_step) == bits_ + cleared_ ? best : -1;
}

void BitTiles::CopyPart(const Loop* loops, Place at) const {
  Loop others[internal_loop_nest::kMaxLoops];
  int count = 0;
  for (int i = 0; i < rank_; ++i) {
    if (i != in_dst_ && i != in_src_) others[count++] = loops[i];
  }
  const Loop &across_dst = loops[in_dst_], &across_src = loops[in_src_];
  std::unique_ptr<unsigned char[]> tile;
  if (in_dst_ != in_src_ && AreWholeBytes(across_dst, across_src)) {
    tile.reset(new (std::nothrow) unsigned char[kJoinedRows * kJoinedColumns]);
  }
  Odometer other(others, count);
  do {
    const Place here = {at.dst, at.src, at.dst_bit + other.dst, at.src_bit + other.src};
    if (in_dst_ == in_src_) {
      CopyRows(across_dst, here);
    } else if (tile != nullptr && (here.dst_bit | here.src_bit) % 8 == 0) {
      CopySquares(across_dst, across_src, here, tile.get());
    } else {
      CopyBytes(across_dst, across_src, here);
    }
  } while (other.Next());
}

void BitTiles::CopyRows(const Loop& row, Place at) const {
  constexpr int64_t kMost = 4096;
  unsigned char bytes[kMost];
  const int bits = static_cast<int>(bits_);
  for (int64_t begin = 0; begin < row.count; begin += kMost) {
    const int64_t count = std::min(kMost, row.count - begin);
    UnpackRun({at.src, at.src_bit + begin * row.src_step, row.src_step, bits}, count, bytes);
    PackRun(bytes, count, {at.dst, at.dst_bit + begin * row.dst_step, row.dst_step, bits},
            cleared_);
  }
}

void BitTiles::CopyBytes(const Loop& across_dst, const Loop& across_src, Place at) const {
  for (int64_t i = 0; i < across_src.count; i += kEdge) {
    for (int64_t j = 0; j < across_dst.count; j += kEdge) {
      Loop dst_edge = across_dst, src_edge = across_src;
      src_edge.count = std::min(kEdge, across_src.count - i);
      dst_edge.count = std::min(kEdge, across_dst.count - j);
      CopyTile(dst_edge, src_edge,
               {at.dst, at.src, at.dst_bit + i * across_src.dst_step + j * across_dst.dst_step,
                at.src_bit + i * across_src.src_step + j * across_dst.src_step});
    }
  }
}

// Whether rows of both sides are dense, and begin with a byte where the tiles do.
bool BitTiles::AreWholeBytes(const Loop& across_dst, const Loop& across_src) const {
  return (across_dst.src_step | across_src.dst_step) % 8 == 0 && 8 % bits_ == 0 && cleared_ == 0 &&
         across_dst.dst_step == bits_ && across_src.src_step == bits_;
}

void BitTiles::CopySquares(const Loop& across_dst, const Loop& across_src, Place at,
                           unsigned char* tile) const {
  const int64_t joined = 8 / bits_;  // elements of a byte
  const int64_t rows = across_dst.count / joined, columns = across_src.count / joined * joined;
  for (int64_t j = 0; j < rows; j += kJoinedRows) {
    for (int64_t i = 0; i < columns; i += kJoinedColumns) {
      unsigned char* const dst = at.dst + (at.dst_bit + i * across_src.dst_step) / 8 + j;
      const unsigned char* const src =
          at.src + (at.src_bit + j * joined * across_dst.src_step + i * bits_) / 8;
      const int64_t tile_rows = std::min(kJoinedRows, rows - j);
      const int64_t tile_columns = std::min(kJoinedColumns, columns - i);
      for (int64_t row = 0; row < tile_rows; ++row) {
        JoinRows(src + row * joined * across_dst.src_step / 8, across_dst.src_step / 8,
                 tile_columns / joined, static_cast<int>(bits_), tile + row * kJoinedColumns);
      }
      CopyPlan plan;
      plan.Add({tile_rows, 1, kJoinedColumns});
      plan.Add({tile_columns, across_src.dst_step / 8, 1});
      plan.Finish(1);
      plan.bytes = std::max(plan.bytes, elements_ * bits_ / 8);  // of the whole copy
      Execute(plan, dst, tile);
    }
  }
  // What fills no whole byte: the last rows of src, and the last columns of the others.
  auto rest = [&](int64_t row, int64_t row_count, int64_t column, int64_t column_count) {
    if (row_count == 0 || column_count == 0) return;
    Loop dst_edge = across_dst, src_edge = across_src;
    dst_edge.count = row_count;
    src_edge.count = column_count;
    CopyBytes(
        dst_edge, src_edge,
        {at.dst, at.src, at.dst_bit + column * across_src.dst_step + row * across_dst.dst_step,
         at.src_bit + column * across_src.src_step + row * across_dst.src_step});
  };
  rest(rows * joined, across_dst.count - rows * joined, 0, across_src.count);
  rest(0, rows * joined, columns, across_src.count - columns);
}

void BitTiles::CopyTile(const Loop& across_dst, const Loop& across_src, Place at) const {
  alignas(64) unsigned char unpacked[kEdge * kPitch];
  alignas(64) unsigned char permuted[kEdge * kPitch];
  const int bits = static_cast<int>(bits_);
  for (int64_t j = 0; j < across_dst.count; ++j) {
    UnpackRun({at.src, at.src_bit + j * across_dst.src_step, across_src.src_step, bits},
              across_src.count, unpacked + j * kPitch);
  }
  CopyPlan plan;
  plan.Add({across_dst.count, 1, kPitch});
  plan.Add({across_src.count, kPitch, 1});
  plan.Finish(1);
  Execute(plan, permuted, unpacked);
  for (int64_t i = 0; i < across_src.count; ++i) {
    PackRun(permuted + i * kPitch, across_dst.count,
            {at.dst, at.dst_bit + i * across_src.dst_step, across_dst.dst_step, bits}, cleared_);
  }
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
