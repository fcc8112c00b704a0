// A permutation of bytes in registers, as tables that are made at run time from the loops.
//
//   Permutation<64, 1> p;                             // vectors of 64 bytes
//   p.Make(1, {3, 1, -1}, {1000, 3, 4}, kNoPlanes);   // BGRA pixels become RGB: 16 per step
//
// A step makes one vector of dst, or several at constant distances, from one or more windows of
// src. A window is as long as a vector. For each vector and each window (or pair of windows, if one
// instruction permutes two vectors), a table has the byte of src for each byte of the vector. The
// step covers as many iterations of `along` as is cheapest.
// So one kernel (permute.inc) deinterleaves and interleaves planes, reorders, drops and repeats
// channels, reverses rows, and gathers and scatters over small gaps.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_PERMUTATION_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_PERMUTATION_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "dovetail/devices/cpu/copy/kernels/block.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// True if loops[0] is a group, such as the channels of a pixel: dense in dst, and not wider than a
// vector together with the step to the next group.
inline bool IsGrouped(const Loop* loops, int rank, int64_t unit, int64_t vector_bytes) {
  return rank > 1 && loops[0].dst_step == unit && loops[0].count * unit <= loops[1].dst_step &&
         loops[1].dst_step <= vector_bytes;
}

inline constexpr Loop kNoPlanes{1, 0, 0};

// Vectors have kBytes bytes. A table permutes kPerTable windows.
template <int64_t kBytes, int kPerTable>
class Permutation {
 public:
  static constexpr int64_t kMostVectors = 4;

  // `group` is the innermost loop. It has one iteration, or is dense in dst. `along` does not
  // overlap it in dst. `planes` repeat the other loops, from the same windows: their step in src is
  // positive, and there are up to kMostVectors of them. False if a vector does not hold the loops,
  // or if copying by elements is cheaper.
  bool Make(int64_t unit, const Loop& group, const Loop& along, const Loop& planes) {
    unit_ = unit;
    group_ = group;
    along_ = along;
    const int64_t group_bytes = group.count * unit;
    if (group_bytes > kBytes || along.dst_step < group_bytes) return false;
    // The elements of a group share windows if one holds them all.
    const int64_t of_planes = (planes.count - 1) * planes.src_step + unit;
    const int64_t span = (group.count - 1) * std::abs(group.src_step) + of_planes;
    const bool is_near = span <= kBytes;
    if (!is_near && planes.count > 1) return false;
    streams_ = is_near ? 1 : group.count;
    extent_ = is_near ? span : unit;
    lowest_ = is_near ? std::min<int64_t>((group.count - 1) * group.src_step, 0) : 0;
    vectors_ = planes.count;
    vector_step_ = planes.dst_step;
    if (!ChooseStep()) return false;
    const int64_t elements = at_once_ * group.count * planes.count;
    if (Cost(at_once_, vectors_) >= kCostOfElement * elements) return false;
    PlaceWindows();
    MakeTables(planes);
    return true;
  }

  int64_t at_once() const { return at_once_; }  // iterations of `along` per step
  int windows() const { return static_cast<int>(WindowsOf(at_once_)); }
  int64_t offset(int window) const { return offsets_[window]; }  // in src, from the step's address
  int64_t vectors() const { return vectors_; }
  int64_t vector_step() const { return vector_step_; }  // from vector to vector in dst
  bool joins_vectors() const { return streams_ > 1 && vectors_ > 1; }  // they follow each other
  // For each byte of the vector, its index in the table's windows; 0x80 if it is not in them. A
  // vector has tables() tables.
  const char* table(int64_t vector, int64_t table) const {
    return tables_[vector * tables() + table];
  }
  int64_t tables() const { return TablesOf(at_once_); }

  // The bytes of a vector that are elements, as bits; and how many bytes it takes in dst.
  uint64_t written() const { return written_; }
  int64_t bytes() const {
    return std::min((at_once_ - 1) * along_.dst_step + group_.count * unit_, kBytes);
  }
  bool has_gaps() const { return along_.dst_step > group_.count * unit_; }

  // The number of steps, of `steps`, that read nothing outside of [begin, end). Windows reach
  // beyond the elements only in the direction of `along`, so these are the first steps.
  int64_t ReadableSteps(const char* src, int64_t steps, const char* begin, const char* end) const {
    const int64_t step = at_once_ * along_.src_step;
    const int64_t room =
        step < 0 ? src + begin_ - begin : end - src - end_;  // after the first step
    if (room < 0) return 0;
    if ((steps - 1) * std::abs(step) <= room) return steps;
    return room / std::abs(step) + 1;
  }
  // The number of steps, of `steps`, that can store whole vectors: the bytes after the elements
  // belong to the next step.
  int64_t WritableSteps(int64_t steps) const {
    const int64_t step = at_once_ * along_.dst_step;
    const int64_t room = (along_.count - 1) * along_.dst_step + group_.count * unit_ - kBytes;
    if (has_gaps() || bytes() == kBytes) return steps;
    return room < 0 ? 0 : std::min(steps, room / step + 1);
  }

 private:
  static constexpr int64_t kMostTables = 20;

  // Costs in half instructions: a window takes a load, a table a shuffle (and an OR, but that is
  // for two lanes at once), a vector a store. An element takes a load and a store.
  static constexpr int64_t kCostOfElement = 4;
  int64_t Cost(int64_t n, int64_t vectors) const {
    return WindowsOf(n) * 2 + vectors * (TablesOf(n) * 2 + (has_gaps() ? 4 : 2));
  }
  // Windows follow each other; if the step of `along` is longer, each iteration has its own.
  bool follow() const { return std::abs(along_.src_step) <= kBytes; }
  int64_t WindowsOfStream(int64_t n) const {
    if (!follow()) return n;
    return ((n - 1) * std::abs(along_.src_step) + extent_ + kBytes - 1) / kBytes;
  }
  int64_t WindowsOf(int64_t n) const { return WindowsOfStream(n) * streams_; }
  int64_t TablesOf(int64_t n) const { return (WindowsOf(n) + kPerTable - 1) / kPerTable; }

  // Chooses the iterations that go into a step. False if there are none.
  bool ChooseStep() {
    const int64_t step = std::abs(along_.src_step);
    int64_t most = std::min(along_.count, 1 + (kBytes - group_.count * unit_) / along_.dst_step);
    while (most > 0 && WindowsOf(most) * vectors_ > kMostTables) --most;
    if (most == 0) return false;
    at_once_ = most;
    for (int64_t windows = 1; follow() && windows < WindowsOfStream(most); ++windows) {
      const int64_t n = 1 + (windows * kBytes - extent_) / step;
      if (Cost(n, vectors_) * at_once_ < Cost(at_once_, vectors_) * n) at_once_ = n;
    }
    // Whole windows of planes that are interleaved make several whole vectors.
    const int64_t n = kBytes / extent_, bytes = n * along_.dst_step, several = bytes / kBytes;
    if (streams_ > 1 && step == extent_ && !has_gaps() && n <= along_.count &&
        bytes % kBytes == 0 && several * streams_ <= kMostTables &&
        Cost(n, several) * at_once_ < Cost(at_once_, 1) * n) {
      at_once_ = n;
      vectors_ = several;
      vector_step_ = kBytes;
    }
    return true;
  }

  // Windows reach beyond the elements in the direction of `along`.
  void PlaceWindows() {
    const int64_t of_stream = WindowsOfStream(at_once_), step = along_.src_step;
    begin_ = std::numeric_limits<int64_t>::max();
    end_ = std::numeric_limits<int64_t>::min();
    for (int64_t w = 0; w < windows(); ++w) {
      const int64_t in_stream = w % of_stream;
      const int64_t first = lowest_ + w / of_stream * group_.src_step;
      const int64_t last_of_back = first + extent_ - kBytes;
      const int64_t apart = follow() ? (step < 0 ? -kBytes : kBytes) : step;
      offsets_[w] = (step < 0 ? last_of_back : first) + in_stream * apart;
      begin_ = std::min(begin_, offsets_[w]);
      end_ = std::max(end_, offsets_[w] + kBytes);
    }
  }

  void MakeTables(const Loop& planes) {
    const int64_t tables = this->tables(), of_stream = WindowsOfStream(at_once_);
    std::memset(tables_, 0x80, vectors_ * tables * kBytes);
    // (Copies, because the tables may alias members.)
    const Loop group = group_, along = along_;
    const int64_t unit = unit_, n = at_once_, stream_step = streams_ > 1 ? of_stream : 0;
    const bool follow = this->follow(), goes_back = along.src_step < 0;
    uint64_t written = 0;
    for (int64_t e = 0; e < group.count; ++e) {
      const int64_t first_window = e * stream_step, first = offsets_[first_window];
      for (int64_t p = 0; p < planes.count; ++p) {
        int64_t dst = e * unit, src = e * group.src_step + p * planes.src_step - first;
        for (int64_t i = 0; i < n; ++i, dst += along.dst_step, src += along.src_step) {
          char (*const of_vector)[kBytes] = tables_ + (p + dst / kBytes) * tables;
          const int64_t to = dst % kBytes;
          for (int64_t b = 0; b < unit; ++b) {
            // From the first window of the stream, which is the last in memory if src goes back.
            const int64_t at = src + b;
            int64_t window = i, index = at - i * along.src_step;
            if (follow) {
              window = goes_back ? (kBytes - 1 - at) / kBytes : at / kBytes;
              index = at & (kBytes - 1);
            }
            window += first_window;
            of_vector[window / kPerTable][to + b] =
                static_cast<char>(index + window % kPerTable * kBytes);
          }
          written |= ((uint64_t{1} << unit) - 1) << to;
        }
      }
    }
    written_ = written;
  }

  int64_t unit_ = 0;
  Loop group_{}, along_{};
  int64_t streams_ = 0;  // that groups are read from
  int64_t extent_ = 0;   // bytes of src for an iteration, in one stream
  int64_t lowest_ = 0;   // offset of a group's lowest element in src
  int64_t at_once_ = 0;
  int64_t vectors_ = 1;
  int64_t vector_step_ = 0;
  uint64_t written_ = 0;
  int64_t begin_ = 0, end_ = 0;  // the bytes of src that a step reads
  int64_t offsets_[kMostTables];
  char tables_[kMostTables][kBytes];
};

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_PERMUTATION_H_
