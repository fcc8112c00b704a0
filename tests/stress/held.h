// A tensor whose elements all have one value, its key, so that each view and copy of it can be
// checked. Memory that is reused too early has another key.

#ifndef DOVETAIL_TESTS_STRESS_HELD_H_
#define DOVETAIL_TESTS_STRESS_HELD_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/tensor.h"
#include "dovetail/tests/stress/shelf.h"
#include "gtest/gtest.h"

namespace dovetail::stress {

struct Held {
  Tensor tensor;  // int32
  int32_t key;
};

// Below 2^24, so that float32 has it, too.
inline int32_t NewKey(Random& random) { return static_cast<int32_t>(random.Below(1 << 24)); }

// The value, or a failure and an empty one.
template <typename T>
T ValueOf(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  ADD_FAILURE() << result.status();
  return T();
}

// `tensor` is in host memory.
inline void CheckElements(const Tensor& tensor, int32_t key) {
  if (tensor.is_null()) return;  // a failure was reported
  const auto elements = tensor.elements<const int32_t>();
  ASSERT_TRUE(elements.ok()) << elements.status();
  for (const int32_t element : *elements) {
    if (element == key) continue;
    ADD_FAILURE() << "An element of a " << tensor << " is " << element << " and not " << key;
    return;
  }
}

// Mostly small shapes. A few take memory from malloc, and very few a mapping of their own.
inline std::vector<int64_t> RandomShape(Random& random) {
  if (random.OneIn(20000)) return {3, 400000};
  if (random.OneIn(1000)) return {2, 20000};
  std::vector<int64_t> shape(random.Below(4));
  for (int64_t& size : shape) size = random.OneIn(50) ? 0 : 1 + random.Below(9);
  return shape;
}

// A view of every kind. Reads `tensor` only.
inline Tensor RandomView(const Tensor& tensor, Random& random) {
  if (tensor.rank() == 0) return ValueOf(tensor.BroadcastTo({1 + random.Below(3)}));
  const int64_t last = tensor.rank() - 1;
  switch (random.Below(6)) {
    case 0:
      return ValueOf(tensor.Slice(random.Below(tensor.rank()), {.step = -1}));
    case 1:
      return ValueOf(tensor.Slice(last, {.start = random.Below(3), .step = 2}));
    case 2:
      return ValueOf(tensor.Transpose(0, last));
    case 3:
      return ValueOf(tensor.Index({IndexItem::NewAxis(), IndexItem::Range({.stop = 4})}));
    case 4:
      return tensor.shape()[0] == 0 ? tensor : ValueOf(tensor.Select(0, -1));
    default:
      return tensor.ReadOnly();
  }
}

}  // namespace dovetail::stress

#endif  // DOVETAIL_TESTS_STRESS_HELD_H_
