// Whether two tensors have memory in common.
//
//   if (MayOverlap(x.dl_tensor(), y.dl_tensor())) ...
//
// Exact for strided tensors whose elements have whole bytes: the two halves of every row of one
// array do not overlap. Where that takes more than kMostSteps steps, and for packed elements, the
// answer is whether the ranges from the lowest to the highest byte meet. C++17; any thread.

#ifndef DOVETAIL_PYTHON_ARGS_OVERLAP_H_
#define DOVETAIL_PYTHON_ARGS_OVERLAP_H_

#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/python/args/sizes.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// Whether some a_i of 0 … most_i have a sum of step_i * a_i that is a given number.
class SumFinder {
 public:
  static constexpr int kMostSteps = 10000;

  // `step` is not negative. At most 128 different ones.
  void Add(uint64_t step, uint64_t most) {
    if (step == 0 || most == 0) return;
    int at = 0;
    while (at < count_ && terms_[at].step > step) ++at;
    if (at < count_ && terms_[at].step == step) {
      terms_[at].most += most;
      return;
    }
    for (int i = count_++; i > at; --i) terms_[i] = terms_[i - 1];
    terms_[at] = {step, most};
  }
  // Also true if that takes too long.
  bool Reaches(uint64_t sum) {
    reach_[count_] = 0;
    for (int i = count_ - 1; i >= 0; --i)
      reach_[i] = reach_[i + 1] + terms_[i].step * terms_[i].most;
    return Reaches(sum, 0);
  }

 private:
  struct Term {
    uint64_t step, most;
  };
  bool Reaches(uint64_t sum, int from) {
    if (sum > reach_[from]) return false;
    if (sum == 0 || ++steps_ > kMostSteps) return true;
    const Term& term = terms_[from];  // there is one: the sum is at most their reach
    const uint64_t rest = reach_[from + 1];
    const uint64_t least = sum > rest ? (sum - rest - 1) / term.step + 1 : 0;
    const uint64_t fits = sum / term.step;
    for (uint64_t a = fits < term.most ? fits : term.most; a + 1 > least; --a) {
      if (Reaches(sum - a * term.step, from + 1)) return true;
      if (a == 0) break;
    }
    return false;
  }

  Term terms_[130];
  uint64_t reach_[131];
  int count_ = 0;
  int steps_ = 0;
};

struct ByteRange {
  uint64_t lowest, highest;
};

// `bytes` is the size of an element. The tensor has elements, and a valid layout.
inline ByteRange RangeOf(const DLTensor& x, uint64_t bytes) {
  const uint64_t first = reinterpret_cast<uintptr_t>(x.data) + x.byte_offset;
  ByteRange range = {first, first + bytes - 1};
  for (int32_t i = 0; i < x.ndim; ++i) {
    const uint64_t length = static_cast<uint64_t>((x.shape[i] - 1) * x.strides[i]) * bytes;
    (x.strides[i] < 0 ? range.lowest : range.highest) += length;
  }
  return range;
}

inline void AddSteps(const DLTensor& x, uint64_t bytes, SumFinder* finder) {
  for (int32_t i = 0; i < x.ndim; ++i) {
    if (x.shape[i] == 1) continue;  // its stride may be any number
    const auto stride = static_cast<uint64_t>(x.strides[i] < 0 ? -x.strides[i] : x.strides[i]);
    finder->Add(stride * bytes, static_cast<uint64_t>(x.shape[i] - 1));
  }
}

inline bool HasAddresses(const DLTensor& x) {
  switch (static_cast<int32_t>(x.device.device_type)) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case code:                                                             \
    return addressable;
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
    default:
      return false;
  }
}

inline bool HasNoElement(const DLTensor& x) {
  for (int32_t i = 0; i < x.ndim; ++i) {
    if (x.shape[i] == 0) return true;
  }
  return false;
}

}  // namespace internal_arg

// Both have strides (never NULL) and valid layouts, as all borrowed tensors do.
inline bool MayOverlap(const DLTensor& x, const DLTensor& y) {
  namespace in = internal_arg;
  // (Host memory has several device types, and shares its addresses with GPUs.)
  const bool has_addresses = in::HasAddresses(x) && in::HasAddresses(y);
  if ((x.device.device_type != y.device.device_type && !has_addresses) || in::HasNoElement(x) ||
      in::HasNoElement(y)) {
    return false;
  }
  const uint64_t x_bits = uint64_t{x.dtype.bits} * x.dtype.lanes;
  const uint64_t y_bits = uint64_t{y.dtype.bits} * y.dtype.lanes;
  const uint64_t x_bytes = (x_bits + 7) / 8, y_bytes = (y_bits + 7) / 8;
  const in::ByteRange a = in::RangeOf(x, x_bytes), b = in::RangeOf(y, y_bytes);
  if (a.lowest > b.highest || b.lowest > a.highest) return false;
  if (x_bits % 8 != 0 || y_bits % 8 != 0) return true;
  // A common byte: a.lowest + (steps of x) = b.highest - (steps of y).
  in::SumFinder finder;
  in::AddSteps(x, x_bytes, &finder);
  in::AddSteps(y, y_bytes, &finder);
  finder.Add(1, x_bytes + y_bytes - 2);
  return finder.Reaches(b.highest - a.lowest);
}

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARGS_OVERLAP_H_
