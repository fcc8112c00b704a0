// Whether a tensor is what a receiver wants: THE check of rank, sizes, strides, alignment, type,
// device and access. C++17, and no library but <cstdint>.
//
//   const Misfit misfit = FindMisfit(offer, want);
//   if (!misfit.fits()) return Refuse(misfit);
//
// The caller has the words, and what only one receiver asks for. Nothing is owned, changed or
// thrown; any thread.

#ifndef DOVETAIL_INTEROP_FIND_MISFIT_H_
#define DOVETAIL_INTEROP_FIND_MISFIT_H_

#include <cstdint>

#include "dovetail/core/freestanding/abi.h"
#include "dovetail/interop/requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

constexpr bool IsHostMemory(int32_t device) {
  switch (device) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case code:                                                             \
    return host;
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
    default:
      return false;
  }
}

// Whether a stride is negative, also one that leads to no element.
inline bool HasNegative(int32_t rank, const int64_t* strides) {
  int64_t signs = 0;
  for (int32_t i = 0; i < rank; ++i) signs |= strides[i];
  return signs < 0;
}

// The parts of FindMisfit, for a hot path that loads what it looks at one by one (Fits of
// python/exchange/routes/mismatch.h).
namespace misfit_parts {

inline bool IsEmpty(const Offer& offer) {
  for (int32_t i = 0; i < offer.rank; ++i) {
    if (offer.shape[i] == 0) return true;
  }
  return false;
}

enum DeviceCode : int32_t {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) id##Code = code,
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
};

inline bool IsDevice(int32_t device, int32_t wanted) {
  if (wanted == kHostMemory) return device == kCpuCode || IsHostMemory(device);  // the CPU's: fast
  return wanted == kAnyDevice || device == wanted;
}

constexpr bool IsAligned(uintptr_t address, uint32_t alignment) {
  return alignment <= 1 || (address & (alignment - 1)) == 0;
}

inline Misfit FindNegative(const Offer& offer) {
  if (!HasNegative(offer.rank, offer.strides) || IsEmpty(offer)) return {};
  int32_t i = 0;
  while (offer.strides[i] >= 0) ++i;
  return {Want::kSign, i, offer.strides[i], 0};
}

inline Misfit FindRepeated(const Offer& offer, const int64_t* wanted_strides) {
  for (int32_t i = 0; i < offer.rank; ++i) {
    if (offer.strides[i] == 0 && offer.shape[i] > 1 && !IsEmpty(offer) &&
        (wanted_strides == nullptr || wanted_strides[i] != 0)) {
      return {Want::kRepeats, i, 0, 1};
    }
  }
  return {};
}

// For orders without gaps. Dimension `first` is the innermost one, first + step the next.
[[gnu::always_inline]] inline Misfit FindGap(const Offer& offer, Want want, int32_t first,
                                             int32_t step) {
  int64_t stride = 1;
  for (int32_t i = first; i >= 0 && i < offer.rank; i += step) {
    if (offer.shape[i] != 1 && offer.strides[i] != stride) {
      if (IsEmpty(offer)) break;
      return {want, i, offer.strides[i], stride};
    }
    stride *= offer.shape[i];
  }
  return {};
}

// Whether strides nest as they are, from the last dimension to the first: nearly all that do.
[[gnu::always_inline]] inline bool FallsNested(const Offer& offer) {
  int64_t reached = 1;
  for (int32_t i = offer.rank - 1; i >= 0; --i) {
    const int64_t size = offer.shape[i] > 1 ? offer.shape[i] : 1;
    if (offer.strides[i] < reached || __builtin_mul_overflow(offer.strides[i], size, &reached)) {
      return false;
    }
  }
  return true;
}

// For kWantNested, of strides in any order.
[[gnu::noinline]] inline Misfit FindInterleaved(const Offer& offer) {
  int32_t order[64];  // dimensions by stride, then by size
  for (int32_t i = 0; i < offer.rank; ++i) {
    if (offer.strides[i] <= 0) return {Want::kSign, i, offer.strides[i], 1};
    int32_t at = i;
    const auto is_before = [&offer](int32_t a, int32_t b) {
      return offer.strides[a] != offer.strides[b] ? offer.strides[a] < offer.strides[b]
                                                  : offer.shape[a] < offer.shape[b];
    };
    for (; at > 0 && is_before(i, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  for (int32_t i = 1; i < offer.rank; ++i) {
    const int32_t inner = order[i - 1], outer = order[i];
    int64_t reached = INT64_MAX;
    if (__builtin_mul_overflow(offer.strides[inner], offer.shape[inner], &reached) ||
        offer.strides[outer] < reached) {
      return {Want::kNested, outer, offer.strides[outer], reached};
    }
  }
  return {};
}

// For max_index, of sizes.
[[gnu::always_inline]] inline Misfit FindLargeSize(const Offer& offer, int64_t max_index) {
  int64_t count = 1;
  for (int32_t i = 0; i < offer.rank; ++i) {
    if (offer.shape[i] > max_index) return {Want::kIndex, i, offer.shape[i], max_index};
    count *= offer.shape[i];
  }
  return count > max_index ? Misfit{Want::kIndex, -1, count, max_index} : Misfit{};
}

// For kWantIndexedMemory.
[[gnu::always_inline]] inline Misfit FindFarElement(const Offer& offer, int64_t max_index) {
  uint64_t span = 0;  // from the first element to the last; a valid layout's fits
  bool is_empty = false;
  for (int32_t i = 0; i < offer.rank; ++i) {
    const int64_t stride = offer.strides[i];
    if (stride > max_index || stride < -max_index - 1) {
      return {Want::kIndex, i, stride, max_index};
    }
    is_empty |= offer.shape[i] == 0;
    const auto forward = static_cast<uint64_t>(stride);
    const uint64_t length = stride < 0 ? -forward : forward;
    span += static_cast<uint64_t>(offer.shape[i] - 1) * length;
  }
  const bool fits = is_empty || span < static_cast<uint64_t>(max_index);
  return fits ? Misfit{} : Misfit{Want::kIndex, -1, static_cast<int64_t>(span), max_index};
}

struct AnyName {
  constexpr bool operator()(int32_t) const { return true; }
};

template <typename FitsName>
[[gnu::always_inline]] inline Misfit FindWrongSize(const Offer& offer, const Requirements& want,
                                                   FitsName fits_name) {
  for (int32_t i = 0; want.shape != nullptr && i < offer.rank; ++i) {
    const int64_t size = offer.shape[i], wanted = want.shape[i];
    if (wanted == size || wanted == kAnySize) continue;
    if (wanted >= 0 || !fits_name(i)) return {Want::kSize, i, size, wanted};
  }
  for (int32_t i = 0; want.max_shape != nullptr && i < offer.rank; ++i) {
    const int64_t size = offer.shape[i], most = want.max_shape[i];
    if (most >= 0 && size > most) return {Want::kSize, i, size, most};
  }
  if (want.max_index != kAnyIndex) return FindLargeSize(offer, want.max_index);
  return {};
}

[[gnu::always_inline]] inline Misfit FindWrongStride(const Offer& offer, const Requirements& want) {
  if ((want.flags & kWantNonNegative) != 0) {
    if (const Misfit misfit = FindNegative(offer); !misfit.fits()) return misfit;
  }
  if ((want.flags & kWantNoRepeats) != 0) {
    if (const Misfit misfit = FindRepeated(offer, want.strides); !misfit.fits()) return misfit;
  }
  if ((want.flags & kWantRowMajor) != 0) {
    const Misfit misfit = FindGap(offer, Want::kRowMajor, offer.rank - 1, -1);
    if (!misfit.fits()) return misfit;
  }
  if ((want.flags & kWantColumnMajor) != 0) {
    const Misfit misfit = FindGap(offer, Want::kColumnMajor, 0, 1);
    if (!misfit.fits()) return misfit;
  }
  const int32_t last = offer.rank - 1;
  if ((want.flags & kWantInnerDense) != 0 && last >= 0 && offer.shape[last] > 1 &&
      offer.strides[last] != 1 && !IsEmpty(offer)) {
    return {Want::kInnerDense, last, offer.strides[last], 1};
  }
  if ((want.flags & kWantNested) != 0 && !FallsNested(offer)) {
    if (const Misfit misfit = FindInterleaved(offer); !misfit.fits()) return misfit;
  }
  for (int32_t i = 0; want.strides != nullptr && i < offer.rank; ++i) {
    const int64_t stride = offer.strides[i], wanted = want.strides[i];
    if (wanted != kAnyStride && offer.shape[i] > 1 && stride != wanted) {
      if (IsEmpty(offer)) break;
      return {Want::kStride, i, stride, wanted};
    }
  }
  if ((want.flags & kWantIndexedMemory) != 0) return FindFarElement(offer, want.max_index);
  return {};
}

}  // namespace misfit_parts

// What fails first. A negative entry of want.shape other than kAnySize is a name of the caller's:
// `fits_name(axis)` says whether the size goes with it. Inlined, so that what a caller leaves at
// its default costs nothing.
template <typename FitsName = misfit_parts::AnyName>
[[gnu::always_inline]] inline Misfit FindMisfit(const Offer& offer, const Requirements& want,
                                                FitsName fits_name = {}) {
  namespace parts = misfit_parts;
  if (!parts::IsDevice(offer.device, want.device)) {
    return {Want::kDevice, -1, offer.device, want.device};
  }
  if (want.type != 0 && offer.type != want.type) return {Want::kType, -1, offer.type, want.type};
  if (offer.rank != want.rank && ((want.flags & kWantRank) != 0 || want.shape != nullptr ||
                                  want.max_shape != nullptr || want.strides != nullptr)) {
    return {Want::kRank, -1, offer.rank, want.rank};
  }
  Misfit misfit = parts::FindWrongSize(offer, want, fits_name);
  if (!misfit.fits()) return misfit;
  if ((want.flags & kWantWritable) != 0 && offer.is_read_only) return {Want::kAccess};
  misfit = parts::FindWrongStride(offer, want);
  if (!misfit.fits()) return misfit;
  if (parts::IsAligned(offer.address, want.alignment) || parts::IsEmpty(offer)) return {};
  return {Want::kAlignment, -1, static_cast<int64_t>(offer.address), want.alignment};
}

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_FIND_MISFIT_H_
