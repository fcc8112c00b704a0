// The functions with Dovetail's arguments, bound by nanobind.

#include <nanobind/nanobind.h>

#include "dovetail/benchmarks/arguments_bindings/dovetail_binding.h"
#include "dovetail/benchmarks/arguments_bindings/functions.h"
#include "dovetail/python/casters/nanobind.h"

NB_MODULE(dovetail_nanobind, m) {
  using dovetail_benchmarks::DovetailBinding;
  dovetail_benchmarks::Define<DovetailBinding>(m);
  // A new tensor of the caller's library.
  m.def("make", [](DovetailBinding::In like) { return dovetail::OwnedTensor::EmptyLike(like); });
}
