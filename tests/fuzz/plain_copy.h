// A copy between strided views by the plainest loop, to compare copies with.
//
//   std::optional<Difference> difference = ComparePlainly(shape, src, seen, expected, cast);
//   // Now all elements that `seen` has are in `expected`, too, and nothing else has changed there.

#ifndef DOVETAIL_TESTS_FUZZ_PLAIN_COPY_H_
#define DOVETAIL_TESTS_FUZZ_PLAIN_COPY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dovetail/core/dtype.h"
#include "dovetail/tests/fuzz/plain_cast.h"

namespace dovetail::fuzz {

// Elements in memory. Sub-byte elements lie `step` bits apart: 8 if each has a byte of its own.
struct PlainSide {
  char* origin = nullptr;  // element 0
  DType dtype;
  int64_t step = 0;              // bits
  std::vector<int64_t> strides;  // in elements
};

// The first element that is not what it should be.
struct Difference {
  int64_t bit = 0;  // from element 0
  Element source, expected, seen;
  std::string ToString() const;
};

using CastFunction = std::function<Element(const Element&)>;

// `cast`: one lane; null if both sides have one type. Puts each element that was seen into
// `expected`, whose element 0 is there.
std::optional<Difference> ComparePlainly(const std::vector<int64_t>& shape, const PlainSide& src,
                                         const PlainSide& seen, char* expected,
                                         const CastFunction& cast);

}  // namespace dovetail::fuzz

#endif  // DOVETAIL_TESTS_FUZZ_PLAIN_COPY_H_
