#include "dovetail/devices/cpu/copy/joined_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dovetail/devices/cpu/copy/rows_ahead.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

bool IsPossible(const CopyPlan& plan, const Kernels& kernels) {
  if (plan.kernel != CopyKernel::kRows || kernels.join_rows == nullptr || plan.rank < 2) {
    return false;
  }
  const int64_t bytes = plan.loops[0].count * plan.unit();
  return bytes >= kernels.joined_bytes && plan.loops[1].dst_step == bytes;
}

// Where rows were written up to: the last line is not, which may have begun.
struct Written {
  char* dst = nullptr;
  const char* src = nullptr;

  void Finish() const {
    const int64_t rest = reinterpret_cast<uintptr_t>(dst) & (kLine - 1);
    if (rest > 0) std::memcpy(dst - rest, src - rest, rest);
  }
};

}  // namespace

bool WriteJoinedRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  if (!IsPossible(plan, kernels)) return false;
  const int64_t bytes = plan.loops[0].count * plan.unit(), src_step = plan.loops[1].src_step;
  PartsAhead parts(plan, 1, bytes, kernels.order.rows_ahead_bytes, src);
  Written written;
  do {
    char* const to = dst + parts.dst();
    const char* const from = src + parts.src();
    const char* const later = parts.later();
    const int64_t rows = parts.rows();
    if (to == written.dst) {
      kernels.join_rows(to, from, written.src, bytes, rows, src_step, later);
    } else {
      written.Finish();
      const int64_t head = -reinterpret_cast<uintptr_t>(to) & (kLine - 1);
      std::memcpy(to, from, head);
      kernels.join_rows(to + head, from + head, nullptr, bytes - head, 1, 0, nullptr);
      kernels.join_rows(to + bytes, from + src_step, from + bytes, bytes, rows - 1, src_step,
                        later);
    }
    written = {to + rows * bytes, from + (rows - 1) * src_step + bytes};
  } while (parts.Next());
  written.Finish();
  return true;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
