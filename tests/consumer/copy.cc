// A program that copies and casts with the kernels of its processor. It exits with 1 if an element
// is wrong.

#include <cstdint>
#include <iostream>
#include <numeric>
#include <utility>
#include <vector>

#include "dovetail/copy.h"
#include "dovetail/dovetail.h"

int main() {
  dovetail::RegisterDefaultBackends();
  constexpr int64_t kRows = 300, kColumns = 500;
  std::vector<float> values(kRows * kColumns);
  std::iota(values.begin(), values.end(), 0.0f);
  auto tensor = dovetail::Tensor::Wrap(std::move(values), {kRows, kColumns});
  if (!tensor.ok()) return 1;
  auto transposed = dovetail::Copied(*tensor->Transpose(0, 1), {.dtype = dovetail::kInt64});
  if (!transposed.ok()) {
    std::cerr << transposed.status() << "\n";
    return 1;
  }
  const int64_t* next = *transposed->data<const int64_t>();
  for (int64_t column = 0; column < kColumns; ++column) {
    for (int64_t row = 0; row < kRows; ++row) {
      if (*next++ != row * kColumns + column) return 1;
    }
  }
  std::cout << "consumer: a transposed copy, cast to int64\n";
  return 0;
}
