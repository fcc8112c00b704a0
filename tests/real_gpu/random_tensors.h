// Random tensors for the tests of this folder.
//
//   Random random(1);
//   for (int i = 0; i < Cases(300); ++i) Tensor host = OnHost({40, 60}, kFloat32, random);

#ifndef DOVETAIL_TESTS_REAL_GPU_RANDOM_TENSORS_H_
#define DOVETAIL_TESTS_REAL_GPU_RANDOM_TENSORS_H_

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using Dims = std::vector<int64_t>;
using Random = std::mt19937;

// A type of each element size.
inline constexpr DType kTypes[] = {kUInt8, kFloat16, kFloat32, kFloat64, kComplex128};

// The number of cases: DOVETAIL_TEST_CASES, or `otherwise`.
inline int Cases(int otherwise) {
  const char* text = std::getenv("DOVETAIL_TEST_CASES");
  return text != nullptr ? static_cast<int>(std::strtol(text, nullptr, 10)) : otherwise;
}

// Random bytes on the CPU.
inline Tensor OnHost(const Dims& shape, DType dtype, Random& random) {
  const Tensor t = *Tensor::Empty(shape, dtype);
  auto* bytes = static_cast<unsigned char*>(t.raw_data());
  for (int64_t i = 0; i < t.nbytes(); ++i) bytes[i] = static_cast<unsigned char>(random());
  return t;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_REAL_GPU_RANDOM_TENSORS_H_
