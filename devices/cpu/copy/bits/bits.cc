#include "dovetail/devices/cpu/copy/bits/bits.h"

#include <algorithm>
#include <numeric>

#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/layout.h"
#include "dovetail/devices/cpu/copy/bits/bit_tiles.h"
#include "dovetail/devices/cpu/copy/divided_plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using internal_loop_nest::NormalForm;
using internal_loop_nest::Normalize;

// Loops stay in the order of the dimensions, which is the order of packed elements as a rule. It
// also lets the last iteration of a loop with a dst stride of 0 write last.
constexpr NormalForm kForm{.order = NormalForm::Order::kAsGiven};

bool GetBit(const char* base, int64_t bit) { return (base[bit >> 3] >> (bit & 7)) & 1; }
void SetBit(char* base, int64_t bit, bool value) {
  const auto mask = static_cast<unsigned char>(1u << (bit & 7));
  auto& byte = reinterpret_cast<unsigned char&>(base[bit >> 3]);
  byte = value ? byte | mask : byte & static_cast<unsigned char>(~mask);
}

}  // namespace

BitLoops::BitLoops(const TensorView& dst, const TensorView& src)
    : bits_(dst.dtype.element_bits()),
      dst_step_(StepBits(dst.dtype, dst.packing)),
      src_step_(StepBits(src.dtype, src.packing)) {
  for (int64_t size : dst.shape) empty_ = empty_ || size == 0;
  if (empty_) return;
  for (int dim = dst.rank() - 1; dim >= 0; --dim) {
    loops_[rank_++] = {dst.shape[dim], WrappingMultiply(dst.strides[dim], dst_step_),
                       WrappingMultiply(src.strides[dim], src_step_)};
  }
  Loop::Offsets start;  // stays 0, because directions are kept
  rank_ = Normalize<kForm>(loops_, rank_, &start);
}

bool BitLoops::Copy(void* dst, const void* src) const {
  if (empty_) return true;
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  int dense = -1;  // the loop that is dense in dst and src; all others step by whole bytes
  bool whole = true;
  for (int i = 0; i < rank_; ++i) {
    if (dense < 0 && loops_[i].dst_step == bits_ && loops_[i].src_step == bits_) {
      dense = i;
    } else {
      whole = whole && loops_[i].dst_step % 8 == 0 && loops_[i].src_step % 8 == 0;
    }
  }
  const int64_t group = 8 / std::gcd(bits_, 8);  // elements that fill whole bytes
  const int64_t groups = dense < 0 || !whole ? 0 : loops_[dense].count / group;
  if (groups == 0) {
    const BitTiles tiles(loops_, rank_, bits_, dst_step_ - bits_);
    if (tiles.IsWorth()) {
      return tiles.Copy(reinterpret_cast<unsigned char*>(to),
                        reinterpret_cast<const unsigned char*>(from));
    }
    CopyBits(to, from);
    return true;
  }
  const int64_t group_bytes = group * bits_ / 8;
  if (!CopyBytes(to, from, dense, groups, group_bytes)) return false;
  BitLoops rest = *this;
  rest.loops_[dense].count -= groups * group;
  if (rest.loops_[dense].count > 0) {
    rest.CopyBits(to + groups * group_bytes, from + groups * group_bytes);
  }
  return true;
}

bool BitLoops::CopyBytes(char* dst, const char* src, int dense, int64_t groups,
                         int64_t group_bytes) const {
  CopyPlan plan;
  plan.Add({groups, group_bytes, group_bytes});
  for (int i = 0; i < rank_; ++i) {
    if (i != dense) plan.Add({loops_[i].count, loops_[i].dst_step / 8, loops_[i].src_step / 8});
  }
  plan.Finish(group_bytes);
  return ExecuteInParts(plan, dst, src);
}

void BitLoops::CopyBits(char* dst, const char* src) const {
  Odometer at(loops_, rank_);
  do {
    for (int b = 0; b < bits_; ++b) SetBit(dst, at.dst + b, GetBit(src, at.src + b));
    for (int64_t b = bits_; b < dst_step_; ++b) SetBit(dst, at.dst + b, false);
  } while (at.Next());
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
