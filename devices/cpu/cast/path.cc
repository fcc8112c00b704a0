#include "dovetail/devices/cpu/cast/path.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/cast/complex.h"
#include "dovetail/devices/cpu/cast/narrow.h"
#include "dovetail/devices/cpu/cast/native.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/stream_threshold.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

bool CastPath::AddReal(DType src, DType dst, SimdLevel level) {
  const DType from = WideTypeOf(src);
  const DType to = WideTypeOf(dst);
  if (from != src) Add(WidenStep(src, level));
  if (from == kFloat64 && dst == kFloat16) {
    Add(RoundToOddStep(level));
  } else if (from != to || (from == src && to == dst)) {
    CastStep step = NativeStep(from, to, level);
    if (step == nullptr) return false;
    Add(step);
  }
  if (to != dst) Add(NarrowStep(dst, level));
  return true;
}

std::optional<CastPath> CastPath::Find(DType src, DType dst, SimdLevel level) {
  if (src.lanes != 1 || dst.lanes != 1) return std::nullopt;
  CastPath path;
  path.src_size_ = src.itemsize();
  path.dst_size_ = dst.itemsize();
  const DType src_part = src.part();
  const DType dst_part = dst.part();
  if (src.is_complex() && dst.is_complex()) {
    path.AddReal(src_part, dst_part, level);
    for (Step& step : path.steps_) step.per_element = 2;
    return path;
  }
  if (src.is_complex()) {
    if (dst != kBool) return std::nullopt;
    DType wide = src;
    if (src_part.bits == 16) {
      wide = kComplex64;
      path.Add(WidenStep(src_part, level), /*per_element=*/2);
    }
    path.Add(ComplexToBoolStep(wide, level));
    return path;
  }
  if ((src != dst_part || !dst.is_complex()) && !path.AddReal(src, dst_part, level)) {
    return std::nullopt;
  }
  if (dst.is_complex()) path.Add(RealToComplexStep(dst_part, level));
  return path;
}

// Runs all steps over one block, between two buffers on the stack.
void CastPath::RunBlock(const char* src, char* dst, size_t n) const {
  alignas(64) char buffers[2][kBlock * kMaxItemSize];
  const char* from = src;
  for (int i = 0; i < count_; ++i) {
    char* to = i + 1 == count_ ? dst : buffers[i % 2];
    steps_[i].run(from, to, n * steps_[i].per_element);
    from = to;
  }
}

// Prefetches what will be read soon: hardware prefetch stops at the end of a page.
void Prefetch(const char* begin, const char* end) {
  for (const char* line = begin; line < end; line += 64) __builtin_prefetch(line, 0, 1);
}

void CastPath::RunStreamed(const char* src, char* dst, size_t n) const {
  constexpr size_t kAhead = 4096;  // bytes
  constexpr size_t kMost = kBlock;
  const cpu::Kernels& kernels = *cpu::KernelsOf(BestSimdLevel());
  alignas(64) char block[kMost * kMaxItemSize];
  const char* const end = src + n * src_size_;
  // The first block ends at the end of a cache line, if an element does.
  size_t count = std::min(n, kMost - reinterpret_cast<uintptr_t>(dst) % 64 / dst_size_);
  while (n > 0) {
    const char* const next = src + count * src_size_;
    Prefetch(std::min(src + kAhead, end), std::min(next + kAhead, end));
    RunBlock(src, block, count);
    cpu::WriteRow(dst, block, static_cast<int64_t>(count * dst_size_), kernels);
    src = next;
    dst += count * dst_size_;
    n -= count;
    count = std::min(n, kMost);
  }
  kernels.stream_done();
}

bool CastPath::IsPastCache(size_t n) const {
  return n * (src_size_ + dst_size_) >= static_cast<size_t>(2 * StreamFrom().rows);
}

void CastPath::Run(const void* src, void* dst, size_t n) const { Run(src, dst, n, IsPastCache(n)); }

void CastPath::Run(const void* src, void* dst, size_t n, bool past_cache) const {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  if (past_cache) return RunStreamed(from, to, n);
  if (count_ == 1) return steps_[0].run(from, to, n * steps_[0].per_element);
  while (n > 0) {
    const size_t block = std::min(n, kBlock);
    RunBlock(from, to, block);
    from += block * src_size_;
    to += block * dst_size_;
    n -= block;
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
