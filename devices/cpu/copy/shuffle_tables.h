// Tables of byte shuffles that take elements apart and put them together, 16 bytes at a time.
//
//   kTakeApart<1, 3>[p][v]   // which bytes of vector v of three belong to plane p of RGB, and
//   where kPutTogether<1, 3>[v][p] // which bytes of plane p go into vector v of three kReverse<2>
//   // elements of 2 bytes in the opposite order
//
// 0x80 stands for a zero byte, so that what several vectors give is combined by OR.

#ifndef DOVETAIL_DEVICES_CPU_COPY_SHUFFLE_TABLES_H_
#define DOVETAIL_DEVICES_CPU_COPY_SHUFFLE_TABLES_H_

#include <array>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// The most elements that may lie between two that go to one row, and the most planes.
inline constexpr int kMaxStride = 4;

using ShuffleTable = std::array<char, 16>;
template <int kStride>
using ShuffleTables = std::array<std::array<ShuffleTable, kStride>, kStride>;

namespace internal {

inline constexpr char kZero = static_cast<char>(0x80);

// Byte b of 16 of plane p is byte `at` of the kStride * 16 bytes in which the planes alternate.
template <int kUnit, int kStride>
constexpr int PlaceInStride(int p, int b) {
  return (b / kUnit * kStride + p) * kUnit + b % kUnit;
}

template <int kUnit, int kStride>
constexpr ShuffleTables<kStride> MakeTakeApart() {
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
constexpr ShuffleTables<kStride> MakePutTogether() {
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

}  // namespace internal

template <int kUnit, int kStride>
inline constexpr ShuffleTables<kStride> kTakeApart = internal::MakeTakeApart<kUnit, kStride>();
template <int kUnit, int kStride>
inline constexpr ShuffleTables<kStride> kPutTogether = internal::MakePutTogether<kUnit, kStride>();
template <int kUnit>
inline constexpr ShuffleTable kReverse = internal::MakeReverse<kUnit>();

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_SHUFFLE_TABLES_H_
