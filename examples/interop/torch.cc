// Runs PyTorch's functions on a tensor of Dovetail: bazel run //examples/interop:torch

#include <ATen/ATen.h>

#include <cstdio>

#include "dovetail/dovetail.h"
#include "dovetail/interop/torch/export.h"
#include "dovetail/interop/torch/import.h"

using dovetail::Tensor;

int main() {
  // [page]
  absl::StatusOr<Tensor> x = Tensor::Wrap(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  absl::StatusOr<at::Tensor> in = dovetail::AsTorch(*x);  // the vector's memory
  in->mul_(10);                                           // *x is 10, 20, …
  at::Tensor sums = in->sum(1);
  absl::StatusOr<Tensor> y = dovetail::FromTorch(sums);       // PyTorch's memory
  const absl::Span<float> values = y->span<float>().value();  // 60, 150
  // [page]
  const bool shared = in->data_ptr() == x->raw_data() && values.data() == sums.data_ptr();
  std::printf("sums %g and %g, %s\n", values[0], values[1], shared ? "one memory" : "NOT SHARED");
  return shared && values[0] == 60 && values[1] == 150 ? 0 : 1;
}
