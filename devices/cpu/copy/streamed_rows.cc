#include "dovetail/devices/cpu/copy/streamed_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of a row that outweigh its ends, whose lines are written twice.
constexpr int64_t kShortestRow = 384;

// The rows of src in the order of a copy, some way ahead of it.
class RowsAhead {
 public:
  RowsAhead(const char* src, const Loop* loops, int rank, int64_t iterations)
      : src_(src), at_(loops, rank), more_(iterations > 0) {
    for (int64_t i = 0; i < iterations && more_; ++i) more_ = at_.Next();
  }

  void PrefetchNext(int64_t bytes) {
    if (!more_) return;
    PrefetchRow(src_ + at_.src, bytes, Cache::kL1);
    more_ = at_.Next();
  }

 private:
  const char* src_;
  Odometer at_;
  bool more_;
};

void WriteRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const int64_t bytes = plan.loops[0].count * plan.unit();
  Loop loops[CopyPlan::kMaxLoops];
  Loop* const end = std::copy(plan.loops + 1, plan.loops + plan.rank, loops);
  std::sort(loops, end, [](const Loop& a, const Loop& b) {
    return std::abs(a.src_step) < std::abs(b.src_step);
  });
  const bool is_dense = plan.rank == 1 || loops[0].src_step == bytes;
  RowsAhead ahead(src, loops, plan.rank - 1,
                  is_dense ? 0 : kernels.tuning.prefetch_distance / bytes);
  Odometer at(loops, plan.rank - 1);
  do {
    ahead.PrefetchNext(bytes);
    WriteRow(dst + at.dst, src + at.src, bytes, kernels);
  } while (at.Next());
}

// Rows that continue each other in dst: the line that two of them share is assembled from both.
void WriteJoinedRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const int64_t bytes = plan.loops[0].count * plan.unit(), step = plan.loops[1].src_step;
  // Rows go in batches. Each is prefetched two batches before it is copied.
  const int64_t far = kernels.tuning.prefetch_distance / bytes;
  const internal_loop_nest::DividedLoop batch = internal_loop_nest::DivideEvenly(
      plan.loops[1], far > 0 ? std::max<int64_t>(far / 2, 1) : plan.loops[1].count);
  Loop loops[CopyPlan::kMaxLoops];
  std::copy(plan.loops + 1, plan.loops + plan.rank, loops);
  loops[0] = batch.Parts();
  Odometer at(loops, plan.rank - 1), later = at;
  bool more = far > 0;
  for (int i = 0; i < 2 && more; ++i) more = later.Next();
  // Where the rows written so far end. Their last, incomplete line is not written yet.
  char* written = nullptr;
  const char* end = nullptr;
  const auto finish = [&] {
    const auto rest = static_cast<int64_t>(reinterpret_cast<uintptr_t>(written) % kLine);
    if (rest > 0) std::memcpy(written - rest, end - rest, rest);
  };
  do {
    char* to = dst + at.dst;
    const char* from = src + at.src;
    int64_t rows = batch.SizeOf(at.index(0));
    if (to != written) {
      finish();
      const auto head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) % kLine);
      std::memcpy(to, from, head);
      kernels.join_rows(to + head, from + head, nullptr, bytes - head, 1, 0, nullptr);
      end = from + bytes;
      to += bytes;
      from += step;
      --rows;
    }
    kernels.join_rows(to, from, end, bytes, rows, step, more ? src + later.src : nullptr);
    if (more) more = later.Next();
    written = to + rows * bytes;
    if (rows > 0) end = from + (rows - 1) * step + bytes;
  } while (at.Next());
  finish();
}

// Writes repeated elements from a buffer that holds some.
void WriteFills(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  constexpr int64_t kBytes = 2048;
  alignas(kLine) char repeated[kBytes];
  const Loop row = plan.loops[0];
  const int64_t bytes = row.count * plan.unit(), unit = plan.unit();
  const BlockKernel fill = EntryOf(kernels.cached, CopyKernel::kFill, plan.unit_log2);
  Odometer at(plan.loops + 1, plan.rank - 1);
  do {
    fill({repeated, src + at.src, {std::min(kBytes, bytes) / unit, unit, 0}, {1, 0, 0}});
    char* const to = dst + at.dst;
    for (int64_t i = 0; i < bytes; i += kBytes) {
      WriteRow(to + i, repeated, std::min(kBytes, bytes - i), kernels);
    }
  } while (at.Next());
}

}  // namespace

bool StreamRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  if (plan.rank == 0) return false;
  const int64_t bytes = plan.loops[0].count * plan.unit();
  if (plan.kernel == CopyKernel::kFill) {
    if (bytes < kShortestRow) return false;
    WriteFills(plan, dst, src, kernels);
    return true;
  }
  if (plan.kernel != CopyKernel::kRows) return false;
  const bool is_joined = plan.rank > 1 && kernels.join_rows != nullptr &&
                         bytes >= kernels.joined_bytes && plan.loops[1].dst_step == bytes;
  const bool is_lines = bytes % kLine == 0 && plan.RowsBeginAt(kLine, dst);
  if (is_joined) {
    WriteJoinedRows(plan, dst, src, kernels);
  } else if (bytes >= kShortestRow || is_lines) {
    WriteRows(plan, dst, src, kernels);
  } else {
    return false;
  }
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
