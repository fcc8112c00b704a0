// The test functions, bound by nanobind, over the installed package.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "dovetail/python/casters/nanobind.h"
#include "dovetail/python/tests/extension/functions.h"
#include "dovetail/python/tests/extension/kernel_functions.h"

namespace nb = nanobind;
using Accumulator = dovetail_test::Accumulator<1>;

NB_MODULE(nanobind_capsule_extension, m) {
  dovetail_test::Define(m);
  dovetail_test::DefineKernels(m);
  m.def("named", &dovetail_test::Add, nb::arg("x"), nb::arg("y"), nb::arg("out"));
  m.def(
      "without_gil",
      [](const dovetail::Arg<const float>& x) {
        return PyGILState_Check() == 0 && x.data() != nullptr;
      },
      nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Accumulator>(m, "Accumulator")
      .def(nb::init<>())
      .def("add", &Accumulator::Add)
      .def_ro("sum", &Accumulator::sum);
}
