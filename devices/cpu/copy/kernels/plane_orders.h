// In which order elements come out of several vectors of 64 bytes, where planes are deinterleaved
// or interleaved.
//
//   kDeinterleaveOrders<1, 3>[p]  // the bytes of plane p among three vectors of RGB pixels
//   kInterleaveOrders<1, 3>[v]    // the bytes of vector v of three, among those of the planes
//
// For permutes of two vectors at a time: see cross_lane_permutes.inc.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_PLANE_ORDERS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_PLANE_ORDERS_H_

#include <array>
#include <cstdint>
#include <type_traits>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// The elements of a vector of 64 bytes.
template <int kUnit>
struct alignas(64) PlaneOrder {
  static constexpr int kSide = 64 / kUnit;
  using Index = std::conditional_t<
      kUnit == 1, uint8_t,
      std::conditional_t<kUnit == 2, uint16_t, std::conditional_t<kUnit == 4, uint32_t, uint64_t>>>;

  // Element i is element `at` of vector `vector`.
  constexpr void Set(int i, int vector, int at) {
    const int64_t among_two = int64_t{vector % 2} * kSide + at;
    index[i] = static_cast<Index>(among_two);
    if (vector >= 2) upper |= uint64_t{1} << i;
  }

  // Among the elements of the first two vectors, or of the others.
  std::array<Index, kSide> index{};
  uint64_t upper = 0;  // a bit for each that comes from the others
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
