#include "dovetail/devices/cpu/copy/macro_tiles.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/rows.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of a tile's rows in src, and of those in dst, and the widest unit, for which
// tiles are faster than single elements.
constexpr int64_t kLeastOfSrcRow = 32;
constexpr int64_t kLeastOfDstRow = 8;
constexpr int kWidestLog2 = 2;

// The bytes that rows in src and dst, and tiles, should have: a run is cut into equal parts of two
// thirds to four thirds of them. Two tiles fit the L1 cache.
constexpr int64_t kSrcRow = 256;
constexpr int64_t kDstRow = 128;
constexpr int64_t kTile = 16 << 10;

constexpr int64_t kMostRows = 2 * kDstRow;
constexpr int64_t kMostColumns = 2 * kSrcRow;
constexpr int64_t kBufferBytes = 2 * kTile;
constexpr int kMostLoops = 12;

// A tile as a matrix, row-major in src and column-major in dst.
struct Matrix {
  int64_t rows, columns;
  int64_t row_src[kMostRows];        // the offset of each row in src
  int64_t column_dst[kMostColumns];  // that of each column in dst, in the order of dst,
  int64_t column_at[kMostColumns];   // and the column's index
};

struct Buffers {
  Matrix matrix;
  alignas(64) char packed[kBufferBytes];      // the rows of src
  alignas(64) char transposed[kBufferBytes];  // the rows of dst
};

int64_t WholeLanes(int64_t bytes) { return (bytes + kLaneBytes - 1) / kLaneBytes * kLaneBytes; }

// From row to row of `packed`: such that they fall into all sets of the cache.
int64_t PackedPitch(int64_t row_bytes) {
  const int64_t pitch = WholeLanes(row_bytes);
  return pitch % 256 == 0 ? pitch + 2 * kLaneBytes : pitch;
}

// Writes the columns of a tile.
template <int kPiece, int kPieces>
void WriteShortColumns(const Matrix& m, char* dst, const char* transposed, int64_t pitch,
                       int64_t bytes) {
  for (int64_t k = 0; k < m.columns; ++k) {
    CopyShortRow<kPiece, kPieces>(dst + m.column_dst[k], transposed + m.column_at[k] * pitch,
                                  bytes);
  }
}

void WriteLongColumns(const Matrix& m, char* dst, const char* transposed, int64_t pitch,
                      int64_t bytes) {
  for (int64_t k = 0; k < m.columns; ++k) {
    std::memcpy(dst + m.column_dst[k], transposed + m.column_at[k] * pitch, bytes);
  }
}

auto ColumnWriter(int64_t bytes) {
  if (bytes > 128) return &WriteLongColumns;
  if (bytes > 64) return &WriteShortColumns<16, 4>;
  if (bytes > 32) return &WriteShortColumns<16, 2>;
  if (bytes >= 16) return &WriteShortColumns<16, 1>;
  if (bytes >= 8) return &WriteShortColumns<8, 1>;
  if (bytes >= 4) return &WriteShortColumns<4, 1>;
  if (bytes >= 2) return &WriteShortColumns<2, 1>;
  return &WriteShortColumns<1, 1>;
}

class MacroTiles {
 public:
  // False if tiles would not be worth it.
  bool Find(const CopyPlan& plan);
  void Copy(char* dst, const char* src, const Kernels& kernels, Buffers* buffers) const;

 private:
  // The loops of one side of a tile, the innermost first. The last one may be cut.
  struct Side {
    int64_t Loop::* step;
    int loops[kMostLoops] = {};
    int count = 0;
    int64_t elements = 1;
  };

  // The places of the tiles, as loops over them.
  struct Places {
    Loop loops[kMostLoops];
    int of[kMostLoops];  // the plan's loop that each goes along
    int rank = 0;
  };

  bool Extend(Side* side, int64_t wanted);
  Places FindPlaces() const;
  void Fill(const bool* is_last, Matrix* matrix) const;
  int64_t SizeOf(int i, bool is_last) const {
    const int64_t rest = loops_[i].count % size_[i];
    return is_last && rest != 0 ? rest : size_[i];
  }

  int64_t unit_ = 1;
  int unit_log2_ = 0;
  int rank_ = 0;
  Loop loops_[kMostLoops];
  int64_t size_[kMostLoops];         // iterations in a tile
  bool is_taken_[kMostLoops] = {};   // by a side
  Side along_src_{&Loop::src_step};  // rows of a tile
  Side along_dst_{&Loop::dst_step};  // columns of a tile
};

// Takes the loop that continues the side into it. False if there is none or it is long enough.
bool MacroTiles::Extend(Side* side, int64_t wanted) {
  if (side->elements * 2 > wanted) return false;
  int64_t next = unit_;
  if (side->count > 0) {
    const int last = side->loops[side->count - 1];
    if (size_[last] < loops_[last].count) return false;
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
  size_[found] = parts > 1 ? (count + parts - 1) / parts : count;
  side->loops[side->count++] = found;
  side->elements *= size_[found];
  return true;
}

bool MacroTiles::Find(const CopyPlan& plan) {
  if (plan.unit_log2 > kWidestLog2 || plan.rank < 3 || plan.rank > kMostLoops) return false;
  unit_ = plan.unit();
  unit_log2_ = plan.unit_log2;
  rank_ = plan.rank;
  std::copy(plan.loops, plan.loops + rank_, loops_);
  std::fill(size_, size_ + rank_, 1);
  const int64_t most = kTile / unit_;
  const auto extend_dst = [&] {
    return Extend(&along_dst_, std::min(kDstRow / unit_, most / along_src_.elements));
  };
  const auto extend_src = [&] {
    return Extend(&along_src_, std::min(kSrcRow / unit_, most / along_dst_.elements));
  };
  for (bool more = true; more;) {  // the shorter side takes the next loop
    const bool dst_first = along_dst_.elements <= along_src_.elements;
    more = dst_first ? extend_dst() || extend_src() : extend_src() || extend_dst();
  }
  const int64_t rows = along_dst_.elements, columns = along_src_.elements;
  const int64_t lanes = kLaneBytes / unit_;  // the least that the kernel takes
  return columns * unit_ >= kLeastOfSrcRow && rows * unit_ >= kLeastOfDstRow && rows <= kMostRows &&
         columns <= kMostColumns &&
         std::max(rows, lanes) * PackedPitch(columns * unit_) <= kBufferBytes &&
         columns * WholeLanes(rows * unit_) <= kBufferBytes;
}

MacroTiles::Places MacroTiles::FindPlaces() const {
  Places places;
  for (int i = 0; i < rank_; ++i) {
    const int64_t count = (loops_[i].count + size_[i] - 1) / size_[i];
    if (count == 1) continue;
    const Loop loop = {count, loops_[i].dst_step * size_[i], loops_[i].src_step * size_[i]};
    int at = places.rank++;
    for (; at > 0 && Cost(loop) < Cost(places.loops[at - 1]); --at) {
      places.loops[at] = places.loops[at - 1];
      places.of[at] = places.of[at - 1];
    }
    places.loops[at] = loop;
    places.of[at] = i;
  }
  return places;
}

// `is_last`: for each loop, whether the tile has its last part.
void MacroTiles::Fill(const bool* is_last, Matrix* matrix) const {
  Loop rows[kMostLoops], columns[kMostLoops];
  for (int k = 0; k < along_dst_.count; ++k) {
    const int i = along_dst_.loops[k];
    rows[k] = {SizeOf(i, is_last[i]), 0, loops_[i].src_step};
  }
  int64_t index_step = 1;
  for (int k = 0; k < along_src_.count; ++k) {
    const int i = along_src_.loops[k];
    const Loop loop = {SizeOf(i, is_last[i]), loops_[i].dst_step, index_step};
    index_step *= loop.count;
    int at = k;
    for (; at > 0 && std::abs(loop.dst_step) < std::abs(columns[at - 1].dst_step); --at) {
      columns[at] = columns[at - 1];
    }
    columns[at] = loop;
  }
  matrix->rows = matrix->columns = 0;
  Odometer row(rows, along_dst_.count);
  do {
    matrix->row_src[matrix->rows++] = row.src;
  } while (row.Next());
  Odometer column(columns, along_src_.count);
  do {
    matrix->column_dst[matrix->columns] = column.dst;
    matrix->column_at[matrix->columns++] = column.src;
  } while (column.Next());
}

void MacroTiles::Copy(char* dst, const char* src, const Kernels& kernels, Buffers* buffers) const {
  const BlockKernel transpose = EntryOf(kernels.cached, CopyKernel::kTranspose, unit_log2_);
  const int64_t lanes = kLaneBytes / unit_;
  const Places places = FindPlaces();
  Matrix& m = buffers->matrix;
  bool is_last[kMostLoops] = {};
  Fill(is_last, &m);
  Odometer at(places.loops, places.rank), ahead = at;
  bool more;
  do {
    bool changes = false;
    for (int k = 0; k < places.rank; ++k) {
      bool& was = is_last[places.of[k]];
      const bool is = at.index(k) + 1 == places.loops[k].count;
      changes = changes || is != was;
      was = is;
    }
    if (changes) Fill(is_last, &m);
    more = ahead.Next();
    // (Rows and columns that fill up a lane are never written.)
    const int64_t src_row = m.columns * unit_, dst_row = m.rows * unit_;
    const int64_t packed_pitch = PackedPitch(src_row), pitch = WholeLanes(dst_row);
    for (int64_t r = 0; r < m.rows; ++r) {
      std::memcpy(buffers->packed + r * packed_pitch, src + at.src + m.row_src[r], src_row);
      if (more) PrefetchRow(src + ahead.src + m.row_src[r], src_row, Cache::kL2);
    }
    for (int64_t k = 0; more && k < m.columns; ++k) {
      PrefetchLine(dst + ahead.dst + m.column_dst[k], Cache::kL2);
    }
    transpose({.dst = buffers->transposed,
               .src = buffers->packed,
               .inner = {std::max(m.rows, lanes), unit_, packed_pitch},
               .outer = {std::max(m.columns, lanes), pitch, unit_}});
    ColumnWriter(dst_row)(m, dst + at.dst, buffers->transposed, pitch, dst_row);
  } while (at.Next());
}

}  // namespace

bool CopyByTiles(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  MacroTiles tiles;
  if (!tiles.Find(plan)) return false;
  const std::unique_ptr<Buffers> buffers(new (std::nothrow) Buffers);
  if (buffers == nullptr) return false;
  tiles.Copy(dst, src, kernels, buffers.get());
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
