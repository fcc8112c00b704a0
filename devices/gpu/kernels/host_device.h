// Macros and functions that let one source compile as a kernel (nvcc, hipcc) and as an ordinary
// function (C++ compiler).
//
//   DOVETAIL_HOST_DEVICE uint32_t Twice(uint32_t x) { return 2 * x; }
//
// Every kernel is written with them, so that the emulator runs the same code as the device. No
// vendor header, no abseil, no std containers.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_HOST_DEVICE_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_HOST_DEVICE_H_

#include <cstdint>
#include <cstring>

#include "dovetail/core/config.h"

#if defined(__CUDACC__) || defined(__HIPCC__)
#define DOVETAIL_HOST_DEVICE __host__ __device__ inline
#else
#define DOVETAIL_HOST_DEVICE inline
#endif

// 1 if this pass of the compiler makes code for a device.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define DOVETAIL_ON_DEVICE 1
#else
#define DOVETAIL_ON_DEVICE 0
#endif

// UNROLL: for a loop with constant bounds, whose arrays then live in registers. NO_UNROLL: for a
// loop with few iterations in practice, which unrolled would only fill the instruction cache.
#if DOVETAIL_ON_DEVICE
#define DOVETAIL_UNROLL _Pragma("unroll")
#define DOVETAIL_NO_UNROLL _Pragma("unroll 1")
#else
#define DOVETAIL_UNROLL
#define DOVETAIL_NO_UNROLL
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The type of one load or store of 1, 2, 4, 8 or 16 bytes.
struct alignas(16) Unit16 {
  uint32_t word[4];
};
template <int kBytes>
struct UnitOf;
template <>
struct UnitOf<1> {
  using Type = uint8_t;
};
template <>
struct UnitOf<2> {
  using Type = uint16_t;
};
template <>
struct UnitOf<4> {
  using Type = uint32_t;
};
template <>
struct UnitOf<8> {
  using Type = uint64_t;
};
template <>
struct UnitOf<16> {
  using Type = Unit16;
};

// One load or store. On the host, a misaligned address, on which a device faults, stops the
// program.
template <typename Unit>
DOVETAIL_HOST_DEVICE Unit LoadUnit(const unsigned char* from) {
#if DOVETAIL_ON_DEVICE
  return *reinterpret_cast<const Unit*>(from);
#else
  if (reinterpret_cast<uintptr_t>(from) % sizeof(Unit) != 0) __builtin_trap();
  Unit unit;
  std::memcpy(&unit, from, sizeof(Unit));
  return unit;
#endif
}
template <typename Unit>
DOVETAIL_HOST_DEVICE void StoreUnit(unsigned char* to, Unit unit) {
#if DOVETAIL_ON_DEVICE
  *reinterpret_cast<Unit*>(to) = unit;
#else
  if (reinterpret_cast<uintptr_t>(to) % sizeof(Unit) != 0) __builtin_trap();
  std::memcpy(to, &unit, sizeof(Unit));
#endif
}

// The upper 32 bits of the product.
DOVETAIL_HOST_DEVICE uint32_t MultiplyHigh(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) * b) >> 32);
}

// Picks four bytes: each hexadecimal digit of `selector` names one of `a` (0-3) or `b` (4-7).
DOVETAIL_HOST_DEVICE uint32_t PickBytes(uint32_t a, uint32_t b, uint32_t selector) {
#if DOVETAIL_ON_DEVICE
  return __byte_perm(a, b, selector);
#else
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t picked = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t from = selector >> (4 * i) & 7;
    picked |= static_cast<uint32_t>(bytes >> (8 * from) & 0xff) << (8 * i);
  }
  return picked;
#endif
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_HOST_DEVICE_H_
