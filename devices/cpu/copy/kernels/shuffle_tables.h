// Tables of byte shuffles that deinterleave and interleave elements, 16 bytes at a time.
//
//   kDeinterleave<1, 3>[p][v]    // the bytes of vector v of three that belong to plane p of RGB
//   kInterleave<1, 3>[v][p]      // the bytes of plane p that go into vector v of three, and where
//   kReverse<2>                  // elements of 2 bytes in reverse order
//   kPick<4, 3>[v]               // every third element of 4 bytes; 64 bytes at a time
//
// The index 0x80 yields a zero byte, so OR combines the results of several vectors.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_SHUFFLE_TABLES_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_SHUFFLE_TABLES_H_

#include <array>
#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// The longest stride, in elements, between two elements of a plane; also the most planes.
inline constexpr int kMaxStride = 4;

using ShuffleTable = std::array<char, 16>;
template <int kStride>
using ShuffleTables = std::array<std::array<ShuffleTable, kStride>, kStride>;

// Indices of words of 4 bytes in two vectors of 64.
template <int kStride>
using PickTables = std::array<std::array<int32_t, 16>, kStride - 1>;

namespace internal {

DOVETAIL_NOT_SHARED inline constexpr char kZero = static_cast<char>(0x80);

// The position of plane p's byte b (of 16) among the kStride * 16 bytes of interleaved planes.
template <int kUnit, int kStride>
constexpr int PlaceInStride(int p, int b) {
  return (b / kUnit * kStride + p) * kUnit + b % kUnit;
}

template <int kUnit, int kStride>
constexpr ShuffleTables<kStride> MakeDeinterleave() {
  ShuffleTables<kStride> tables{};
  for (int p = 0; p < kStride; ++p) {
    for (ShuffleTable& table : tables[p]) table.fill(kZero);
    for (int b = 0; b < 16; ++b) {
      const int at = PlaceInStride<kUnit, kStride>(p, b);
      tables[p][at / 16][b] = static_cast<char>(at % 16);
    }
  }
  return tables;
}

template <int kUnit, int kStride>
constexpr ShuffleTables<kStride> MakeInterleave() {
  ShuffleTables<kStride> tables{};
  for (auto& vector : tables) {
    for (ShuffleTable& table : vector) table.fill(kZero);
  }
  for (int p = 0; p < kStride; ++p) {
    for (int b = 0; b < 16; ++b) {
      const int at = PlaceInStride<kUnit, kStride>(p, b);
      tables[at / 16][p][at % 16] = static_cast<char>(b);
    }
  }
  return tables;
}

template <int kUnit>
constexpr ShuffleTable MakeReverse() {
  ShuffleTable table{};
  for (int b = 0; b < 16; ++b)
    table[b] = static_cast<char>(16 - kUnit - b / kUnit * kUnit + b % kUnit);
  return table;
}

template <int kUnit, int kStride>
constexpr PickTables<kStride> MakePick() {
  constexpr int kWords = kUnit / 4;
  PickTables<kStride> tables{};
  for (int i = 1; i < kStride; ++i) {
    for (int word = 0; word < 16; ++word) {
      const int at = word / kWords * kStride * kWords + word % kWords;  // among all vectors' words
      const int before = i == 1 ? at % 16 : word;
      tables[i - 1][word] = at / 16 == i ? 16 + at % 16 : before;
    }
  }
  return tables;
}

}  // namespace internal

template <int kUnit, int kStride>
DOVETAIL_NOT_SHARED inline constexpr ShuffleTables<kStride> kDeinterleave =
    internal::MakeDeinterleave<kUnit, kStride>();
template <int kUnit, int kStride>
DOVETAIL_NOT_SHARED inline constexpr ShuffleTables<kStride> kInterleave =
    internal::MakeInterleave<kUnit, kStride>();
// [i - 1] combines the elements picked from vectors 0 to i - 1 with every kStride-th element of
// vector i.
template <int kUnit, int kStride>
DOVETAIL_NOT_SHARED inline constexpr PickTables<kStride> kPick =
    internal::MakePick<kUnit, kStride>();
template <int kUnit>
DOVETAIL_NOT_SHARED inline constexpr ShuffleTable kReverse = internal::MakeReverse<kUnit>();

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_SHUFFLE_TABLES_H_
