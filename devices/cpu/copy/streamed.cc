#include "dovetail/devices/cpu/copy/streamed.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/buffer_blocks.h"
#include "dovetail/devices/cpu/copy/direct_rows.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/elements.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/whole_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Whether a buffer is no faster than the L3 cache for elements of `unit` bytes: narrow elements
// take long to gather, and wide elements need no gathering.
constexpr bool IsSlowToPack(int64_t unit) { return unit <= 2 || unit >= 16; }
// Bytes that are written between two prefetch batches.
constexpr int64_t kPiece = 16 * kLine;
// The size of the buffer. (On the heap: threads may have little stack.)
constexpr int64_t kBufferBytes = kMostBufferBytes + kMostBufferRows * 2 * kLine;

// Prefetches the next block of a transpose into the L2 cache: its rows in src are too far apart for
// hardware prefetch. Does nothing for other kernels.
class BlockPrefetcher {
 public:
  BlockPrefetcher(const CopyPlan& plan, const BufferBlocks& blocks) {
    if (plan.kernel != CopyKernel::kTranspose) return;
    // box[1] is dense in src.
    row_bytes_ = blocks.box[1].count * plan.unit();
    for (int i = 0; i < blocks.box_rank; ++i) {
      if (i == 1) continue;
      loops_[rank_++] = blocks.box[i];
      rows_ *= blocks.box[i].count;
    }
  }

  // The next block is at `src` (null: there is none). It is prefetched in `parts` batches.
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

struct Buffer {
  alignas(kLine) char bytes[kBufferBytes];
};

// Writes rows of dst by way of a buffer, into which blocks are packed.
class RowPacker {
 public:
  RowPacker(const CopyPlan& plan, const BufferBlocks& blocks, const Kernels& kernels,
            Buffer* buffer)
      : plan_(plan),
        kernels_(kernels),
        blocks_(blocks),
        next_(plan, blocks),
        buffer_(buffer->bytes) {
    // Rows of the buffer start at lines. Before each is room for the rest of its last block.
    pitch_ = (blocks.box_row_bytes + kLine - 1) / kLine * kLine + kLine;
    if (pitch_ % (8 * kLine) == 0) pitch_ += kLine;  // so that rows fall into all sets of the cache
    if (blocks_.has_rows()) blocks_.box[1].dst_step = pitch_;
  }

  // Writes all blocks of `rows` rows that start at dst. `after` is the source of the next rows, for
  // prefetch; null if there are none.
  void Write(char* dst, const char* src, int64_t rows, const char* after) {
    if (blocks_.has_rows()) blocks_.box[1].count = rows;
    int64_t& count = blocks_.box[blocks_.cut_at].count;
    const int64_t whole_count = count;
    Odometer at(blocks_.along, blocks_.along_rank);
    bool more, first = true;
    do {
      int64_t bytes = blocks_.box_row_bytes;
      if (blocks_.cut) {
        count = blocks_.cut->SizeOf(at.index(0));
        bytes = bytes / whole_count * count;
      }
      const int64_t dst_offset = at.dst;
      ExecuteCached(plan_.kernel, plan_.unit_log2, blocks_.box, blocks_.box_rank, buffer_ + kLine,
                    src + at.src, kernels_);
      more = at.Next();
      next_.Start(more ? src + at.src : after, rows * std::max(bytes / kPiece, int64_t{1}));
      for (int64_t r = 0; r < rows; ++r) {
        Flush(dst + r * blocks_.rows.loop().dst_step + dst_offset, buffer_ + kLine + r * pitch_,
              bytes, first, !more);
      }
      first = false;
    } while (more);
    count = whole_count;
  }

 private:
  // Writes a row, some lines at a time, and prefetches a batch of the next block with each.
  void Flush(char* dst, char* row, int64_t bytes, bool first, bool last) {
    // The rest of the row's last block is right before this one.
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
  BufferBlocks blocks_;
  BlockPrefetcher next_;
  int64_t pitch_;
  char* const buffer_;
};

// False if the plan has no blocks, or there is no memory for the buffer. (noinline: other ways of
// streaming need their stack.)
[[gnu::noinline]] bool WriteBuffered(const CopyPlan& plan, char* dst, const char* src,
                                     const Kernels& kernels) {
  BufferBlocks blocks;
  if (!blocks.Find(plan, kernels.tuning)) return false;
  const std::unique_ptr<Buffer> buffer(new (std::nothrow) Buffer);
  if (buffer == nullptr) return false;
  RowPacker packer(plan, blocks, kernels, buffer.get());
  const internal_loop_nest::DividedLoop& rows = blocks.rows;
  const Loop each = rows.Parts();
  Odometer at(blocks.outer, blocks.outer_rank);
  for (bool more = true; more;) {
    char* const to = dst + at.dst;
    const char* const from = src + at.src;
    more = at.Next();
    for (int64_t i = 0; i < each.count; ++i) {
      const char* after = i + 1 < each.count ? from + (i + 1) * each.src_step
                          : more             ? src + at.src
                                             : nullptr;
      packer.Write(to + i * each.dst_step, from + i * each.src_step, rows.SizeOf(i), after);
    }
  }
  return true;
}

// Whether several rows of src make up rows of dst. (If single elements fill whole tiles, the order
// of dst keeps the lines of src in the cache as well.)
bool MakesTiles(const CopyPlan& plan) {
  if (plan.kernel != CopyKernel::kElements) return !plan.GoesByRows() && plan.kernel_loops() == 2;
  const Loop& row = plan.loops[0];
  return plan.rank > 1 && std::abs(plan.loops[1].src_step) < std::abs(row.src_step) &&
         row.count < kTileElements;
}

// Whether the L3 cache is no faster than memory for the plan, if whole lines are streamed. (Tiles
// and planes are written to the L3 cache as fast as they are read, except for tiles of narrow
// elements in many rows that evict each other.)
bool IsSlowInCache(const CopyPlan& plan) {
  if (plan.kernel == CopyKernel::kDeinterleave || plan.kernel == CopyKernel::kInterleave)
    return false;
  return plan.kernel != CopyKernel::kTranspose ||
         (plan.unit() <= 2 && Collide(kLine / plan.unit(), plan.loops[1].dst_step));
}

// The least bytes for which any way of streaming is worth it.
int64_t LeastOf(const CopyPlan& plan, const char* dst, const StreamThresholds& from) {
  // With gaps, src takes more of the cache than dst does, so a buffer gains less.
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
    const int64_t least = IsSlowToPack(plan.unit()) ? from.buffered : from.lines;
    if (plan.bytes < least || !(kernels.tuning.buffers_rows || MakesTiles(plan)) ||
        !WriteBuffered(plan, dst, src, kernels)) {
      return false;
    }
  }
  kernels.stream_done();
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
