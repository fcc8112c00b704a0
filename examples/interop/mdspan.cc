// Shares tensors with code that takes mdspans: bazel run //examples/interop:mdspan
//
// With CCCL's cuda::std::mdspan; std::mdspan of C++23 is used in the same way.

#include <cstdio>
#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/mdspan/cuda.h"

using dovetail::Tensor;

// Any code that computes on mdspans.
void Scale(cuda::std::mdspan<float, cuda::std::dextents<int64_t, 2>> m, float factor) {
  for (int64_t i = 0; i < m.extent(0); ++i) {
    for (int64_t j = 0; j < m.extent(1); ++j) m(i, j) *= factor;
  }
}

int main() {
  // [page]
  using Matrix = cuda::std::dextents<int64_t, 2>;
  absl::StatusOr<Tensor> x = Tensor::Wrap(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  auto m = dovetail::AsMdspan<float, Matrix>(*x);  // borrows the vector's memory
  Scale(*m, 10);                                   // *x is 10, 20, …
  absl::StatusOr<Tensor> turned = x->Transpose(0, 1);
  auto strided = dovetail::AsMdspan<float, Matrix, cuda::std::layout_stride>(*turned);
  absl::StatusOr<Tensor> back = dovetail::FromMdspan(*strided, *x);  // keeps *x
  // [page]
  const bool shared = m->data_handle() == x->raw_data() && back->raw_data() == x->raw_data();
  std::printf("%g, %s\n", **back->at<float>({2, 1}), shared ? "one memory" : "NOT SHARED");
  return shared && **back->at<float>({2, 1}) == 60 ? 0 : 1;
}
