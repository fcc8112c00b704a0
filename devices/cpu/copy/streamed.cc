#include "dovetail/devices/cpu/copy/streamed.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/direct_rows.h"
#include "dovetail/devices/cpu/copy/division.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/elements.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/whole_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Elements of so many bytes go to the last-level cache as fast as by way of a buffer: to gather
// narrow ones takes long, and wide ones need no gathering.
constexpr bool IsSlowToPack(int64_t unit) { return unit <= 2 || unit >= 16; }
// What is written between two parts of what is prefetched meanwhile.
constexpr int64_t kPiece = 16 * kLine;
// The buffer lies on the stack.
constexpr int64_t kBufferBytes = kMostBufferBytes + kMostBufferRows * 2 * kLine;

// Prefetches what the next block of a transpose reads, into the second cache: its rows in src lie
// too far apart for hardware prefetch. For other kernels, does nothing.
class BlockPrefetcher {
 public:
  BlockPrefetcher(const CopyPlan& plan, const Division& division) {
    if (plan.kernel != CopyKernel::kTranspose) return;
    // box[1] is what is dense in src.
    row_bytes_ = division.box[1].count * plan.unit();
    for (int i = 0; i < division.box_rank; ++i) {
      if (i == 1) continue;
      loops_[rank_++] = division.box[i];
      rows_ *= division.box[i].count;
    }
  }

  // The next block is at `src` (or nowhere), and will be prefetched in `parts` parts.
  void Start(const char* src, int64_t parts) {
    src_ = src;
    part_ = (rows_ + parts - 1) / parts;
    at_ = Odometer(loops_, rank_);
    more_ = rank_ > 0 && src != nullptr;
  }

  void FetchPart() {
    for (int64_t row = 0; row < part_ && more_; ++row) {
      PrefetchRow(src_ + at_.src, row_bytes_, Cache::kL2);
      more_ = at_.Next();
    }
  }

 private:
  Loop loops_[CopyPlan::kMaxLoops];
  int rank_ = 0;
  int64_t rows_ = 1;
  int64_t row_bytes_ = 0;
  int64_t part_ = 0;
  const char* src_ = nullptr;
  bool more_ = false;
  Odometer at_{nullptr, 0};
};

// Some rows of dst and the buffer that they are gathered in.
class RowPacker {
 public:
  RowPacker(const CopyPlan& plan, const Division& division, const Kernels& kernels)
      : plan_(plan), kernels_(kernels), division_(division), next_(plan, division) {
    // Rows of the buffer start at lines; before each is room for what its last block left.
    pitch_ = (division.box_row_bytes + kLine - 1) / kLine * kLine + kLine;
    if (pitch_ % (8 * kLine) == 0) pitch_ += kLine;  // so that rows fall into all sets of the cache
    if (division_.has_rows()) division_.box[1].dst_step = pitch_;
  }

  // All blocks of `rows` rows that start at dst. The next blocks that will be prefetched are at
  // `after`, or nowhere.
  void Write(char* dst, const char* src, int64_t rows, const char* after) {
    if (division_.has_rows()) division_.box[1].count = rows;
    const int64_t row_bytes_of_whole = division_.box_row_bytes;
    const int64_t part = division_.box[division_.cut].count;
    Odometer at(division_.along, division_.along_rank);
    bool more, first = true;
    do {
      int64_t bytes = row_bytes_of_whole;
      if (division_.cut_total > 0) {
        const int64_t count = std::min(part, division_.cut_total - at.index(0) * part);
        division_.box[division_.cut].count = count;
        bytes = row_bytes_of_whole / part * count;
      }
      const int64_t dst_offset = at.dst;
      ExecuteCached(plan_.kernel, plan_.unit_log2, division_.box, division_.box_rank,
                    buffer_ + kLine, src + at.src, kernels_);
      more = at.Next();
      next_.Start(more ? src + at.src : after, rows * std::max(bytes / kPiece, int64_t{1}));
      for (int64_t r = 0; r < rows; ++r) {
        Flush(dst + r * division_.rows.dst_step + dst_offset, buffer_ + kLine + r * pitch_, bytes,
              first, !more);
      }
      first = false;
    } while (more);
    division_.box[division_.cut].count = part;
  }

 private:
  // Writes a row, some lines at a time, and prefetches a part of the next block with each.
  void Flush(char* dst, char* row, int64_t bytes, bool first, bool last) {
    // What the row's last block left stands right before this one.
    const int64_t left = first ? 0 : reinterpret_cast<uintptr_t>(dst) & (kLine - 1);
    int64_t done = -left;
    for (next_.FetchPart(); bytes - done >= 2 * kPiece; next_.FetchPart()) {
      const int64_t to_line = -reinterpret_cast<uintptr_t>(dst + done) & (kLine - 1);
      WriteLines(dst + done, row + done, to_line + kPiece, kernels_);
      done += to_line + kPiece;
    }
    const int64_t rest = WriteLines(dst + done, row + done, bytes - done, kernels_);
    char* end = row + bytes;
    if (last) {
      std::memcpy(dst + bytes - rest, end - rest, rest);
    } else {
      std::memmove(row - rest, end - rest, rest);
    }
  }

  const CopyPlan& plan_;
  const Kernels& kernels_;
  Division division_;
  BlockPrefetcher next_;
  int64_t pitch_;
  alignas(kLine) char buffer_[kBufferBytes];
};

void WriteBuffered(const CopyPlan& plan, const Division& division, char* dst, const char* src,
                   const Kernels& kernels) {
  RowPacker packer(plan, division, kernels);
  const Loop& rows = division.rows;
  const int64_t step = division.rows_at_once;
  Odometer at(division.outer, division.outer_rank);
  for (bool more = true; more;) {
    char* const to = dst + at.dst;
    const char* const from = src + at.src;
    more = at.Next();
    for (int64_t row = 0; row < rows.count; row += step) {
      const char* after = row + step < rows.count ? from + (row + step) * rows.src_step
                          : more                  ? src + at.src
                                                  : nullptr;
      packer.Write(to + row * rows.dst_step, from + row * rows.src_step,
                   std::min(step, rows.count - row), after);
    }
  }
}

// Whether rows of dst are made of several rows of src together. (Of whole tiles of single elements,
// dst's own order keeps the lines of src in the cache as well.)
bool MakesTiles(const CopyPlan& plan) {
  if (plan.kernel != CopyKernel::kElements) return !plan.GoesByRows() && plan.kernel_loops() == 2;
  const Loop& row = plan.loops[0];
  return plan.rank > 1 && std::abs(plan.loops[1].src_step) < std::abs(row.src_step) &&
         row.count < kTileElements;
}

// Whether the last-level cache is no faster than memory for it, where whole lines leave. (Tiles and
// planes are written to it as fast as they are read, but for tiles of narrow elements in many rows
// that evict each other.)
bool IsSlowInCache(const CopyPlan& plan) {
  if (plan.kernel == CopyKernel::kDeinterleave || plan.kernel == CopyKernel::kInterleave)
    return false;
  return plan.kernel != CopyKernel::kTranspose ||
         (plan.unit() <= 2 && Collide(kLine / plan.unit(), plan.loops[1].dst_step));
}

// Bytes from which on the plan is worth it in any way.
int64_t LeastOf(const CopyPlan& plan, const char* dst, const StreamThresholds& from) {
  // (Of tiles with gaps, src takes more of the cache than dst does; they gain less by the buffer.)
  if (plan.kernel == CopyKernel::kTransposeGaps) return from.rows;
  if (!plan.GoesByRows()) {
    return plan.RowsBeginAt(kLine, dst) && IsSlowInCache(plan) ? from.lines : from.buffered;
  }
  const bool repeats = plan.kernel == CopyKernel::kFill || plan.FindLoop(1, &Loop::src_step, 0) > 0;
  return repeats ? from.fills : from.rows;
}

}  // namespace

bool ExecuteStreamed(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     const StreamThresholds& from) {
  if (plan.bytes < LeastOf(plan, dst, from)) return false;
  const bool from_memory = plan.bytes >= from.memory;
  if (!WriteWholeLines(plan, dst, src, kernels, from_memory) &&
      !WriteDirectRows(plan, dst, src, kernels)) {
    Division division;
    const int64_t least = IsSlowToPack(plan.unit()) ? from.buffered : from.lines;
    if (plan.bytes < least || !(kernels.tuning.buffers_rows || MakesTiles(plan)) ||
        !division.Divide(plan, kernels.tuning)) {
      return false;
    }
    WriteBuffered(plan, division, dst, src, kernels);
  }
  kernels.stream_done();
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
