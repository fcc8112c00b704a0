// Elements of boxes one by one: the oracle of the tests.

#ifndef DOVETAIL_CORE_RESHARD_BOXES_FOR_TESTS_H_
#define DOVETAIL_CORE_RESHARD_BOXES_FOR_TESTS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/reshard/box.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

// The row-major numbers that the box's elements have in a tensor of the shape, in row-major order.
inline std::vector<int64_t> ElementsOf(const Box& box, absl::Span<const int64_t> shape) {
  std::vector<int64_t> elements = {0};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> longer;
    for (const int64_t element : elements) {
      for (int64_t i = box[dim].start; i < box[dim].stop; ++i) {
        longer.push_back(element * shape[dim] + i);
      }
    }
    elements = std::move(longer);
  }
  return elements;
}

inline int64_t RandomNumber(std::mt19937& random, int64_t first, int64_t last) {
  return std::uniform_int_distribution<int64_t>(first, last)(random);
}

// Has at least one element. The shape has, too.
inline Box RandomBox(std::mt19937& random, absl::Span<const int64_t> shape) {
  Box box;
  for (const int64_t size : shape) {
    const int64_t start = RandomNumber(random, 0, size - 1);
    box.push_back({start, RandomNumber(random, start + 1, size)});
  }
  return box;
}

inline std::vector<int64_t> RandomShape(std::mt19937& random, int64_t most_dims, int64_t most) {
  std::vector<int64_t> shape(static_cast<size_t>(RandomNumber(random, 0, most_dims)));
  for (int64_t& size : shape) size = RandomNumber(random, 1, most);
  return shape;
}

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RESHARD_BOXES_FOR_TESTS_H_
