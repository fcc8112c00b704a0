// The functions with nanobind's own array type.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>

#include "dovetail/benchmarks/arguments_bindings/functions.h"

namespace nb = nanobind;

namespace {

template <typename T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Binding {
  using In = Array<const float>;
  using Out = Array<float>;
  static std::span<const float> Elements(const In& x) { return {x.data(), x.size()}; }
  static std::span<float> Elements(const Out& x) { return {x.data(), x.size()}; }
};

}  // namespace

NB_MODULE(nanobind_ndarray, m) {
  dovetail_benchmarks::Define<Binding>(m);
  // What the call of a function costs with arguments that are only passed on.
  m.def("nothing3", [](nb::handle, nb::handle, nb::handle) {});
}
