// StridedPair: two strided layouts of one shape, and a naive walk over them. Tests compare the
// plans of copies and casts with it.
//
//   const StridedPair pair = RandomStridedPair(&random);
//   EXPECT_EQ(Sorted(offsets_by_plan), Sorted(OffsetsOf(pair)));

#ifndef DOVETAIL_CORE_TESTING_STRIDED_PAIR_H_
#define DOVETAIL_CORE_TESTING_STRIDED_PAIR_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct StridedPair {
  std::vector<int64_t> shape, dst_strides, src_strides;
};

// The offsets of an element in dst and src.
using OffsetPairs = std::vector<std::pair<int64_t, int64_t>>;

// A random pair with up to five dimensions, none of size 0. Strides have any sign. The elements of
// dst do not overlap; those of src may repeat. Many adjacent dimensions continue each other. The
// strides of dimensions of size 1 are extreme values, which must have no effect.
inline StridedPair RandomStridedPair(std::mt19937* random) {
  const auto pick = [random](int64_t lowest, int64_t highest) {
    return lowest + static_cast<int64_t>((*random)() % (highest - lowest + 1));
  };
  const auto rank = static_cast<size_t>(pick(0, 5));
  StridedPair pair{std::vector<int64_t>(rank), std::vector<int64_t>(rank),
                   std::vector<int64_t>(rank)};
  for (int64_t& size : pair.shape) size = pick(1, 5);
  for (std::vector<int64_t>* strides : {&pair.dst_strides, &pair.src_strides}) {
    std::vector<size_t> order(rank);
    for (size_t i = 0; i < rank; ++i) order[i] = i;
    if (pick(0, 1) == 0) std::shuffle(order.begin(), order.end(), *random);
    int64_t step = pick(1, 3) == 1 ? 2 : 1;
    for (size_t dim : order) {
      (*strides)[dim] = pick(0, 3) == 0 ? -step : step;
      step = step * pair.shape[dim] + (pick(0, 3) == 0 ? pick(0, 7) : 0);
      if (pair.shape[dim] == 1) (*strides)[dim] = pick(0, 1) == 0 ? INT64_MAX : INT64_MIN;
      if (strides == &pair.src_strides && pick(0, 7) == 0) (*strides)[dim] = 0;
    }
  }
  return pair;
}

// The offsets of all elements, in row-major order.
inline OffsetPairs OffsetsOf(const StridedPair& pair) {
  OffsetPairs offsets = {{0, 0}};
  for (size_t dim = 0; dim < pair.shape.size(); ++dim) {
    if (pair.shape[dim] == 1) continue;
    OffsetPairs longer;
    for (const auto& [dst, src] : offsets) {
      for (int64_t i = 0; i < pair.shape[dim]; ++i) {
        longer.emplace_back(dst + i * pair.dst_strides[dim], src + i * pair.src_strides[dim]);
      }
    }
    offsets = std::move(longer);
  }
  return offsets;
}

inline OffsetPairs Sorted(OffsetPairs offsets) {
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_STRIDED_PAIR_H_
