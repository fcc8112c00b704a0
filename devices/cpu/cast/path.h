// How elements of one type become those of another: by up to four steps over blocks that stay in
// the first-level cache.
//
//   std::optional<CastPath> path = CastPath::Find(kInt4, kBFloat16);   // int4 → int8 → float32 → …
//   path->Run(src, dst, n);                                            // no gaps, any alignment
//
// Elements of less than 8 bits have a byte each (Packing::kPadded). Integers, and float64 but for
// float16, go into the narrow floats by way of float32, which rounds twice in rare cases: as NumPy,
// ml_dtypes and PyTorch do. Plain data; any thread.

#ifndef DOVETAIL_DEVICES_CPU_CAST_PATH_H_
#define DOVETAIL_DEVICES_CPU_CAST_PATH_H_

#include <cstddef>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class CastPath {
 public:
  // nullopt where there is no such cast: from complex to real numbers (but bool), of handles, of
  // types with lanes.
  static std::optional<CastPath> Find(DType src, DType dst, SimdLevel level = BestSimdLevel());

  // `n` elements, that do not overlap. `past_cache`: what is written does not stay in the cache,
  // which pays for what is larger than it.
  void Run(const void* src, void* dst, size_t n, bool past_cache) const;
  void Run(const void* src, void* dst, size_t n) const;  // by their number

  // Whether `n` elements are more than what both sides share of the cache.
  bool IsPastCache(size_t n) const;

  int num_steps() const { return count_; }

 private:
  // A step does `per_element` of its own elements for each of the cast's: 2 for the parts of
  // complex numbers.
  struct Step {
    CastStep run = nullptr;
    int per_element = 1;
  };
  static constexpr int kMaxSteps = 4;
  // Elements in a block between two steps.
  static constexpr size_t kBlock = 512;
  static constexpr size_t kMaxItemSize = 16;

  void Add(CastStep run, int per_element = 1) { steps_[count_++] = {run, per_element}; }
  // Adds the steps between real types; false where there are none.
  bool AddReal(DType src, DType dst, SimdLevel level);
  void RunBlock(const char* src, char* dst, size_t n) const;
  // For what is larger than the cache.
  void RunStreamed(const char* src, char* dst, size_t n) const;

  Step steps_[kMaxSteps];
  int count_ = 0;
  size_t src_size_ = 0;
  size_t dst_size_ = 0;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_PATH_H_
