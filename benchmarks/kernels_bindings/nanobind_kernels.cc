// The kernel with nanobind's own array type.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <span>

#include "dovetail/benchmarks/kernels_bindings/scale_add.h"

namespace nb = nanobind;

namespace {

template <typename T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using In = Vector<const float>;

template <typename T>
std::span<T> Elements(const Vector<T>& x) {
  return {x.data(), x.size()};
}

void ScaleAdd(const In& x, const In& y, double a, const Vector<float>& out) {
  dovetail_benchmarks::ScaleAdd(Elements(x), Elements(y), a, Elements(out));
}

// A new array of the framework that the tag names.
template <typename Framework>
nb::ndarray<Framework, float, nb::ndim<1>> NewScaleAdd(const In& x, const In& y, double a) {
  auto* const elements = new float[x.size()];
  const nb::capsule owner(elements, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  dovetail_benchmarks::ScaleAdd(Elements(x), Elements(y), a, {elements, x.size()});
  return {elements, {x.size()}, owner};
}

}  // namespace

NB_MODULE(nanobind_kernels, m) {
  m.def("scale_add", &ScaleAdd);
  m.def("new_numpy", &NewScaleAdd<nb::numpy>);
  m.def("new_jax", &NewScaleAdd<nb::jax>);
}
