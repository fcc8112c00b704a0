#include "dovetail/devices/cpu/copy/streamed.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "dovetail/devices/cpu/copy/division.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/odometer.h"
#include "dovetail/devices/cpu/copy/rows_ahead.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"
#include "dovetail/devices/cpu/copy/whole_lines.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

// The buffer lies on the stack.
constexpr int64_t kBufferBytes = kMostBufferBytes + kMostBufferRows * 2 * kLine;
// Rows that go from src to dst without the buffer.
constexpr int64_t kDirectRow = 4096;

// Whether rows need no buffer: long ones, and those that are whole lines anyway.
bool AreDirect(const CopyPlan& plan, const char* dst) {
  if (plan.kernel != CopyKernel::kRows) return false;
  const int64_t bytes = plan.loops[0].count * plan.unit();
  return bytes >= kDirectRow || (bytes % kLine == 0 && plan.RowsBeginAt(kLine, dst));
}

void WriteDirectRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const int64_t bytes = plan.loops[0].count * plan.unit();
  Loop loops[CopyPlan::kMaxLoops];
  Loop* const end = std::copy(plan.loops + 1, plan.loops + plan.rank, loops);
  if (kernels.order.rows_as_in_src) {
    std::sort(loops, end, [](const Loop& a, const Loop& b) {
      return std::abs(a.src_step) < std::abs(b.src_step);
    });
  }
  const bool is_dense = plan.rank == 1 || loops[0].src_step == bytes;
  const int64_t far = is_dense ? 0 : kernels.order.rows_ahead_bytes / bytes;
  RowsAhead ahead(src, loops, plan.rank - 1, far);
  Odometer at(loops, plan.rank - 1);
  do {
    if (const char* const row = ahead.Next()) AskFor(row, bytes);
    WriteRow(dst + at.dst, src + at.src, bytes, kernels);
  } while (at.Next());
}

// Asks for the memory that the next block of a transpose reads, into the second cache: its rows in
// src lie too far apart for a processor to guess them. For other kernels, does nothing.
class Prefetcher {
 public:
  Prefetcher(const CopyPlan& plan, const Division& division) {
    if (plan.kernel != CopyKernel::kTranspose) return;
    // box[1] is what is dense in src.
    row_bytes_ = division.box[1].count * plan.unit();
    for (int i = 0; i < division.box_rank; ++i) {
      if (i == 1) continue;
      loops_[rank_++] = division.box[i];
      rows_ *= division.box[i].count;
    }
  }

  // The next block is at `src` (or nowhere), and will be asked for in `parts` parts.
  void Start(const char* src, int64_t parts) {
    src_ = src;
    part_ = (rows_ + parts - 1) / parts;
    at_ = Odometer(loops_, rank_);
    more_ = rank_ > 0 && src != nullptr;
  }

  void FetchPart() {
    for (int64_t row = 0; row < part_ && more_; ++row) {
      for (int64_t i = 0; i < row_bytes_; i += kLine) __builtin_prefetch(src_ + at_.src + i, 0, 2);
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
class Gatherer {
 public:
  Gatherer(const CopyPlan& plan, const Division& division, const Kernels& kernels)
      : plan_(plan), kernels_(kernels), division_(division), next_(plan, division) {
    // Rows of the buffer start at lines; before each is room for what its last block left.
    pitch_ = (division.box_row_bytes + kLine - 1) / kLine * kLine + kLine;
    if (pitch_ % (8 * kLine) == 0) pitch_ += kLine;  // so that rows fall into all sets of the cache
    if (division_.has_rows()) division_.box[1].dst_step = pitch_;
  }

  // All blocks of `rows` rows that start at dst. The next blocks that will be asked for are at
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
        const int64_t count = std::min(part, division_.cut_total - at.turn(0) * part);
        division_.box[division_.cut].count = count;
        bytes = row_bytes_of_whole / part * count;
      }
      const int64_t dst_offset = at.dst;
      ExecuteCached(plan_.kernel, plan_.unit_log2, division_.box, division_.box_rank,
                    buffer_ + kLine, src + at.src, kernels_);
      more = at.Next();
      next_.Start(more ? src + at.src : after, rows);
      for (int64_t r = 0; r < rows; ++r) {
        next_.FetchPart();
        Flush(dst + r * division_.rows.dst_step + dst_offset, buffer_ + kLine + r * pitch_, bytes,
              first, !more);
      }
      first = false;
    } while (more);
    division_.box[division_.cut].count = part;
  }

 private:
  void Flush(char* dst, char* row, int64_t bytes, bool first, bool last) {
    // What the row's last block left stands right before this one.
    const int64_t left = first ? 0 : reinterpret_cast<uintptr_t>(dst) & (kLine - 1);
    const int64_t rest = WriteLines(dst - left, row - left, bytes + left, kernels_);
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
  Prefetcher next_;
  int64_t pitch_;
  alignas(kLine) char buffer_[kBufferBytes];
};

}  // namespace

bool ExecuteStreamed(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  if (AreDirect(plan, dst)) {
    WriteDirectRows(plan, dst, src, kernels);
  } else if (!WriteWholeLines(plan, dst, src, kernels)) {
    Division division;
    if (!division.Divide(plan, kernels.order)) return false;
    Gatherer gatherer(plan, division, kernels);
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
        gatherer.Write(to + row * rows.dst_step, from + row * rows.src_step,
                       std::min(step, rows.count - row), after);
      }
    }
  }
  kernels.stream_done();
  return true;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
