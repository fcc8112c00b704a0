// The conversion of elements from one type to another: up to four steps, over blocks that stay in
// the L1 cache.
//
//   std::optional<CastPath> path = CastPath::Find(kInt4, kBFloat16);   // int4 → int8 → float32 → …
//   path->Run(src, dst, n);                                            // no gaps, any alignment
//
// Sub-byte elements have a byte each (Packing::kPadded). Integers and float64 are cast to narrow
// floats by way of float32, except from float64 to float16. That rounds twice in rare cases, as
// NumPy, ml_dtypes and PyTorch do. Plain data; any thread.

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
  // nullopt if there is no such cast: from complex to real numbers (except bool), of handles, of
  // types with lanes.
  static std::optional<CastPath> Find(DType src, DType dst, SimdLevel level = BestSimdLevel());

  // Casts `n` elements; src and dst do not overlap. `past_cache`: writes dst by streaming stores,
  // which is faster if it is larger than the cache.
  void Run(const void* src, void* dst, size_t n, bool past_cache) const;
  void Run(const void* src, void* dst, size_t n) const;  // past_cache as IsPastCache(n)

  // Whether `n` elements of both types together are larger than the cache.
  bool IsPastCache(size_t n) const;

  int num_steps() const { return count_; }

 private:
  // The step casts `per_element` elements for each element of the whole cast: 2 for the parts of
  // complex numbers.
  struct Step {
    CastStep run = nullptr;
    int per_element = 1;
  };
  static constexpr int kMaxSteps = 4;
  // The elements of a block.
  static constexpr size_t kBlock = 512;
  static constexpr size_t kMaxItemSize = 16;

  void Add(CastStep run, int per_element = 1) { steps_[count_++] = {run, per_element}; }
  // Adds the steps between real types; false if there are none.
  bool AddReal(DType src, DType dst, SimdLevel level);
  void RunBlock(const char* src, char* dst, size_t n) const;
  // Casts by streaming stores.
  void RunStreamed(const char* src, char* dst, size_t n) const;

  Step steps_[kMaxSteps];
  int count_ = 0;
  size_t src_size_ = 0;
  size_t dst_size_ = 0;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_PATH_H_
