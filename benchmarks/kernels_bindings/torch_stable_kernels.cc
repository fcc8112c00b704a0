// The kernel as an operator by the C++ headers of PyTorch's stable interface.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <cstddef>
#include <span>

#include "dovetail/benchmarks/kernels_bindings/scale_add.h"

namespace {

using torch::stable::Tensor;

void Check(const Tensor& x) {
  STD_TORCH_CHECK(x.scalar_type() == torch::headeronly::ScalarType::Float && x.dim() == 1 &&
                      x.is_contiguous() && x.is_cpu(),
                  "not a contiguous vector of float32 in host memory");
}

// By value, as TORCH_BOX wants it.
// NOLINTBEGIN(performance-unnecessary-value-param)
void ScaleAdd(Tensor x, Tensor y, double a, Tensor out) {
  Check(x);
  Check(y);
  Check(out);
  dovetail_benchmarks::ScaleAdd({x.const_data_ptr<float>(), static_cast<size_t>(x.numel())},
                                {y.const_data_ptr<float>(), static_cast<size_t>(y.numel())}, a,
                                {out.mutable_data_ptr<float>(), static_cast<size_t>(out.numel())});
}
// NOLINTEND(performance-unnecessary-value-param)

}  // namespace

STABLE_TORCH_LIBRARY(dovetail_stable_peer, m) {
  m.def("scale_add(Tensor x, Tensor y, float a, Tensor(a!) out) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(dovetail_stable_peer, CPU, m) {
  m.impl("scale_add", TORCH_BOX(&ScaleAdd));
}
