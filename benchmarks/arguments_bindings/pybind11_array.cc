// The functions with pybind11's own array type, without its conversions.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <span>

#include "dovetail/benchmarks/arguments_bindings/functions.h"

namespace py = pybind11;

namespace {

using Array = py::array_t<float, py::array::c_style>;

// One type for inputs and outputs, since array_t does not tell them apart.
struct Binding {
  using In = const Array&;
  using Out = const Array&;
  static std::span<float> Elements(const Array& x) {
    return {const_cast<float*>(x.data()), static_cast<size_t>(x.size())};
  }
};

}  // namespace

PYBIND11_MODULE(pybind11_array, m) { dovetail_benchmarks::Define<Binding>(m); }
