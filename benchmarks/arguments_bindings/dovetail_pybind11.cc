// The functions with Dovetail's arguments, bound by pybind11.

#include <pybind11/pybind11.h>

#include "dovetail/benchmarks/arguments_bindings/dovetail_binding.h"
#include "dovetail/benchmarks/arguments_bindings/functions.h"
#include "dovetail/python/casters/pybind11.h"

PYBIND11_MODULE(dovetail_pybind11, m, pybind11::mod_gil_not_used()) {
  dovetail_benchmarks::Define<dovetail_benchmarks::DovetailBinding>(m);
}
