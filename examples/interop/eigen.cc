// Computes with Eigen on the memory of a tensor: bazel run //examples/interop:eigen

#include <cstdio>

#include "Eigen/Dense"
#include "dovetail/dovetail.h"
#include "dovetail/interop/eigen/export.h"
#include "dovetail/interop/eigen/import.h"

using dovetail::Tensor;

int main() {
  // [page]
  absl::StatusOr<Tensor> x = Tensor::Wrap(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  auto m = dovetail::AsMap<float>(*x);  // a 2 x 3 Eigen::Map of the vector's memory
  *m *= 10;                             // *x is 10, 20, …
  Eigen::MatrixXf gram = *m * m->transpose();
  const float* memory = gram.data();
  absl::StatusOr<Tensor> y = dovetail::FromEigen(std::move(gram));  // the same memory
  // [page]
  const bool shared = m->data() == x->raw_data() && y->raw_data() == memory;
  std::printf("%g, %s\n", **y->at<float>({1, 1}), shared ? "one memory" : "NOT SHARED");
  return shared && **y->at<float>({1, 1}) == 7700 ? 0 : 1;
}
