// Index tables that deinterleave and interleave planes across vectors of 64 bytes.
//
//   kDeinterleaveOrders<1, 3>[p]  // where plane p's bytes are in three vectors of RGB pixels
//   kInterleaveOrders<1, 3>[v]    // where the bytes of output vector v are in three planes
//
// Used by permutes of two vectors at a time (cross_lane_permutes.inc).

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_PLANE_ORDERS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_PLANE_ORDERS_H_

#include <array>
#include <cstdint>
#include <type_traits>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Where each element of an output vector of 64 bytes comes from.
template <int kUnit>
struct alignas(64) PlaneOrder {
  static constexpr int kSide = 64 / kUnit;
  using Index = std::conditional_t<
      kUnit == 1, uint8_t,
      std::conditional_t<kUnit == 2, uint16_t, std::conditional_t<kUnit == 4, uint32_t, uint64_t>>>;

  // Element i comes from element `at` of vector `vector`.
  constexpr void Set(int i, int vector, int at) {
    const int64_t among_two = int64_t{vector % 2} * kSide + at;
    index[i] = static_cast<Index>(among_two);
    if (vector >= 2) upper |= uint64_t{1} << i;
  }

  // The element's index within its pair of vectors: the first two, or the others.
  std::array<Index, kSide> index{};
  uint64_t upper = 0;  // bit i is set if element i comes from the second pair
};

namespace internal {

template <int kUnit, int kPlanes>
constexpr std::array<PlaneOrder<kUnit>, kPlanes> MakeDeinterleaveOrders() {
  constexpr int kSide = PlaneOrder<kUnit>::kSide;
  std::array<PlaneOrder<kUnit>, kPlanes> orders{};
  for (int p = 0; p < kPlanes; ++p) {
    for (int i = 0; i < kSide; ++i) {
      const int at = i * kPlanes + p;
      orders[p].Set(i, at / kSide, at % kSide);
    }
  }
  return orders;
}

template <int kUnit, int kPlanes>
constexpr std::array<PlaneOrder<kUnit>, kPlanes> MakeInterleaveOrders() {
  constexpr int kSide = PlaneOrder<kUnit>::kSide;
  std::array<PlaneOrder<kUnit>, kPlanes> orders{};
  for (int at = 0; at < kPlanes * kSide; ++at) {
    orders[at / kSide].Set(at % kSide, at % kPlanes, at / kPlanes);
  }
  return orders;
}

}  // namespace internal

template <int kUnit, int kPlanes>
DOVETAIL_NOT_SHARED inline constexpr auto kDeinterleaveOrders =
    internal::MakeDeinterleaveOrders<kUnit, kPlanes>();
template <int kUnit, int kPlanes>
DOVETAIL_NOT_SHARED inline constexpr auto kInterleaveOrders =
    internal::MakeInterleaveOrders<kUnit, kPlanes>();

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_PLANE_ORDERS_H_
