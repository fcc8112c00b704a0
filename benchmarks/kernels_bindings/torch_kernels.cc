// The kernel over at::Tensor: a function of pybind11, and operators of TORCH_LIBRARY.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include <cstddef>
#include <span>

#include "dovetail/benchmarks/kernels_bindings/scale_add.h"

namespace {

void Check(const at::Tensor& x) {
  TORCH_CHECK(x.dim() == 1 && x.is_contiguous() && x.device().is_cpu(),
              "not a contiguous vector in host memory");
}

// data_ptr<float>() checks the element type.
void ScaleAdd(const at::Tensor& x, const at::Tensor& y, double a, at::Tensor& out) {
  Check(x);
  Check(y);
  Check(out);
  dovetail_benchmarks::ScaleAdd({x.const_data_ptr<float>(), static_cast<size_t>(x.numel())},
                                {y.const_data_ptr<float>(), static_cast<size_t>(y.numel())}, a,
                                {out.mutable_data_ptr<float>(), static_cast<size_t>(out.numel())});
}

at::Tensor NewScaleAdd(const at::Tensor& x, const at::Tensor& y, double a) {
  at::Tensor out = at::empty_like(x);
  ScaleAdd(x, y, a, out);
  return out;
}

// What compilers run: they need the shapes of results alone.
void NoScaleAdd(const at::Tensor&, const at::Tensor&, double, at::Tensor&) {}

}  // namespace

TORCH_LIBRARY(dovetail_peer, m) {
  m.def("scale_add(Tensor x, Tensor y, float a, Tensor(a!) out) -> ()");
  m.def("scale_add.functional(Tensor x, Tensor y, float a) -> Tensor");
}
TORCH_LIBRARY_IMPL(dovetail_peer, CPU, m) {
  m.impl("scale_add", &ScaleAdd);
  m.impl("scale_add.functional", &NewScaleAdd);
}
TORCH_LIBRARY_IMPL(dovetail_peer, Meta, m) { m.impl("scale_add", &NoScaleAdd); }

PYBIND11_MODULE(torch_kernels, m) {
  m.def("scale_add", [](const at::Tensor& x, const at::Tensor& y, double a, at::Tensor out) {
    ScaleAdd(x, y, a, out);
  });
  m.def("new_torch", &NewScaleAdd);
}
