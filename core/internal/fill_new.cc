#include "dovetail/core/internal/fill_new.h"

#include <cstdint>

#include "dovetail/core/copy.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/traced.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// Part of a new tensor's memory, as elements of `dtype`.
absl::StatusOr<Tensor> MemoryOf(const Tensor& t, int64_t begin, int64_t count, DType dtype) {
  absl::StatusOr<Layout> layout = Layout::Contiguous({count});
  if (!layout.ok()) return layout.status();
  return Tensor::Make(t.storage(), t.byte_offset() + begin, dtype, *std::move(layout), {});
}

// Elements that share bytes: so many of them that they end at a whole byte are one pattern.
absl::Status FillPatterns(const Tensor& dst, const void* element) {
  const int bits = dst.dtype().element_bits();
  int pattern_bytes = bits;  // 8 elements
  while (pattern_bytes % 2 == 0) pattern_bytes /= 2;
  unsigned char pattern[256] = {};
  if (pattern_bytes > static_cast<int>(sizeof pattern)) {
    return Fill(Tensor(dst), element);
  }
  const auto* from = static_cast<const unsigned char*>(element);
  for (int i = 0; i < 8 * pattern_bytes; ++i) {
    const int bit = i % bits;
    pattern[i / 8] |= static_cast<unsigned char>((from[bit / 8] >> (bit % 8) & 1) << (i % 8));
  }
  const int64_t nbytes = BytesWithoutGaps(dst.num_elements(), dst.dtype(), dst.packing());
  const int64_t whole = nbytes / pattern_bytes;
  absl::StatusOr<Tensor> patterns =
      MemoryOf(dst, 0, whole, {TypeKind::kUInt, 8, static_cast<uint16_t>(pattern_bytes)});
  if (!patterns.ok()) return patterns.status();
  absl::Status s = Fill(*patterns, pattern);
  for (int64_t i = whole * pattern_bytes; s.ok() && i < nbytes; ++i) {
    absl::StatusOr<Tensor> byte = MemoryOf(dst, i, 1, kUInt8);
    if (!byte.ok()) return byte.status();
    s = Fill(*byte, pattern + i % pattern_bytes);
  }
  return s;
}

}  // namespace

absl::Status FillNew(Tensor& dst, const void* element) {
  if (dst.num_elements() == 0) return absl::OkStatus();
  if (element == nullptr) {
    const unsigned char zero = 0;
    const int64_t nbytes = BytesWithoutGaps(dst.num_elements(), dst.dtype(), dst.packing());
    absl::StatusOr<Tensor> bytes = MemoryOf(dst, 0, nbytes, kUInt8);
    return bytes.ok() ? Fill(*bytes, &zero) : bytes.status();  // of any type
  }
  const bool shares_bytes = StepBits(dst.dtype(), dst.packing()) % 8 != 0;
  const bool is_far = !IsHostAccessible(dst.device().type);
  return shares_bytes && is_far ? FillPatterns(dst, element) : Fill(dst, element);
}

absl::Status FillNew(Tensor& dst, const Progression& numbers) {
  if (IsHostAccessible(dst.device().type)) {
    return absl::UnimplementedError("The host writes its own memory.");
  }
  if (dst.num_elements() == 0) return absl::OkStatus();
  absl::StatusOr<DeviceBackend*> backend = BackendFor(dst.device());
  if (!backend.ok()) return backend.status();
  const Stream on = CurrentStream(dst.device());
  if (absl::Status s = dst.storage()->OrderBefore(on); !s.ok()) return s;
  return internal_trace::Traced(
      [&]() -> TraceEvent {
        return {.kind = TraceKind::kFill,
                .dtype = dst.dtype(),
                .shape = dst.shape(),
                .nbytes = dst.nbytes(),
                .device = dst.device(),
                .to_dtype = dst.dtype(),
                .to_device = dst.device(),
                .stream = &on};
      },
      [&] {
        const absl::Status s = (*backend)->Arange(dst.view(), numbers, on);
        if (!absl::IsUnimplemented(s)) dst.storage()->RecordUse(on);
        return s;
      });
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
