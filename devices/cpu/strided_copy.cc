#include "dovetail/devices/cpu/strided_copy.h"

#include <cstring>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/layout.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

// One loop of the copy: how often, and how far each side steps (in bytes, or in bits where elements
// share bytes).
struct Loop {
  int64_t count;
  int64_t dst_step;
  int64_t src_step;
};
using Loops = absl::InlinedVector<Loop, Layout::kInlineRank>;

// The loops, outermost first, without those of one turn; neighbours that step evenly are merged.
Loops PlanLoops(const TensorView& dst, const TensorView& src, int64_t dst_unit, int64_t src_unit) {
  Loops loops;
  for (int i = 0; i < dst.rank(); ++i) {
    if (dst.shape[i] == 1) continue;  // its strides mean nothing and may be anything
    const Loop loop{dst.shape[i], dst.strides[i] * dst_unit, src.strides[i] * src_unit};
    if (!loops.empty() && loops.back().dst_step == loop.count * loop.dst_step &&
        loops.back().src_step == loop.count * loop.src_step) {
      loops.back() = {loops.back().count * loop.count, loop.dst_step, loop.src_step};
    } else {
      loops.push_back(loop);
    }
  }
  if (loops.empty()) loops.push_back({1, 0, 0});
  return loops;
}

// Calls row(dst offset, src offset, innermost loop) for every turn of the outer loops.
template <typename Row>
void ForEachRow(const Loops& loops, Row row) {
  absl::InlinedVector<int64_t, Layout::kInlineRank> turn(loops.size(), 0);
  int64_t dst = 0, src = 0;
  while (true) {
    row(dst, src, loops.back());
    int i = static_cast<int>(loops.size()) - 2;
    for (; i >= 0; --i) {
      dst += loops[i].dst_step;
      src += loops[i].src_step;
      if (++turn[i] < loops[i].count) break;
      dst -= loops[i].count * loops[i].dst_step;
      src -= loops[i].count * loops[i].src_step;
      turn[i] = 0;
    }
    if (i < 0) return;
  }
}

// kSize is the element's size where it is known at compile time, else 0. Loads and stores are by
// memcpy, since neither side need be aligned.
template <size_t kSize>
void CopyElements(char* dst, const char* src, const Loops& loops, size_t itemsize) {
  const size_t size = kSize != 0 ? kSize : itemsize;
  ForEachRow(loops, [&](int64_t dst_offset, int64_t src_offset, const Loop& loop) {
    char* to = dst + dst_offset;
    const char* from = src + src_offset;
    if (loop.dst_step == static_cast<int64_t>(size) && loop.src_step == loop.dst_step) {
      std::memcpy(to, from, size * loop.count);
      return;
    }
    for (int64_t i = 0; i < loop.count; ++i) {
      std::memcpy(to, from, size);
      to += loop.dst_step;
      from += loop.src_step;
    }
  });
}

bool GetBit(const char* base, int64_t bit) { return (base[bit >> 3] >> (bit & 7)) & 1; }
void SetBit(char* base, int64_t bit, bool value) {
  const auto mask = static_cast<unsigned char>(1u << (bit & 7));
  auto& byte = reinterpret_cast<unsigned char&>(base[bit >> 3]);
  byte = value ? byte | mask : byte & static_cast<unsigned char>(~mask);
}

// Elements that share bytes, bit by bit. A padded element's upper bits are cleared.
void CopyBits(char* dst, const char* src, const Loops& loops, int bits, int64_t padding) {
  ForEachRow(loops, [&](int64_t to, int64_t from, const Loop& loop) {
    for (int64_t i = 0; i < loop.count; ++i, to += loop.dst_step, from += loop.src_step) {
      for (int b = 0; b < bits; ++b) SetBit(dst, to + b, GetBit(src, from + b));
      for (int64_t b = bits; b < bits + padding; ++b) SetBit(dst, to + b, false);
    }
  });
}

}  // namespace

void StridedCopy(const TensorView& dst, const TensorView& src) {
  for (int64_t size : dst.shape) {
    if (size == 0) return;
  }
  auto* to = static_cast<char*>(dst.data);
  auto* from = static_cast<const char*>(src.data);
  const int64_t dst_bits = StepBits(dst.dtype, dst.packing);
  const int64_t src_bits = StepBits(src.dtype, src.packing);
  if (dst_bits % 8 != 0 || src_bits % 8 != 0) {
    const int bits = dst.dtype.element_bits();
    CopyBits(to, from, PlanLoops(dst, src, dst_bits, src_bits), bits, dst_bits - bits);
    return;
  }
  const size_t size = dst_bits / 8;
  const Loops loops = PlanLoops(dst, src, dst_bits / 8, src_bits / 8);
  switch (size) {
    case 1:
      return CopyElements<1>(to, from, loops, size);
    case 2:
      return CopyElements<2>(to, from, loops, size);
    case 4:
      return CopyElements<4>(to, from, loops, size);
    case 8:
      return CopyElements<8>(to, from, loops, size);
    case 16:
      return CopyElements<16>(to, from, loops, size);
    default:
      return CopyElements<0>(to, from, loops, size);
  }
}

}  // namespace dovetail::inline DOVETAIL_ABI
