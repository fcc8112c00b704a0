// The test functions, bound by nanobind, with Dovetail linked in.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "dovetail/python/casters/nanobind.h"
#include "dovetail/python/tests/extension/functions.h"
#include "dovetail/python/tests/extension/kernel_functions.h"

namespace nb = nanobind;
using Accumulator = dovetail_test::Accumulator<0>;

NB_MODULE(nanobind_extension, m) {
  dovetail_test::Define(m);
  dovetail_test::DefineKernels(m);
  m.def("named", &dovetail_test::Add, nb::arg("x"), nb::arg("y"), nb::arg("out"));
  m.def(
      "without_gil",
      [](dovetail::Arg<const float> x) { return PyGILState_Check() == 0 && x.data() != nullptr; },
      nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "empty_without_gil",
      [](dovetail::Arg<const float>, int64_t size) {
        return dovetail::OwnedTensor::Empty<float>({size});
      },
      nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "wrapped_without_gil",
      [](int64_t size) { return dovetail::OwnedTensor::Wrap(std::vector<float>{1}, {size}); },
      nb::call_guard<nb::gil_scoped_release>());
  m.def("calling", [](dovetail::Arg<const float>, const nb::object& f) { return f(); });
  m.def("with_rest", [](dovetail::Arg<const float> x, const nb::args&) {
    return dovetail::OwnedTensor::EmptyLike(x);
  });
  m.def("linked", [](dovetail::Tensor tensor) { return tensor; });
  nb::class_<Accumulator>(m, "Accumulator")
      .def(nb::init<>())
      .def("add", &Accumulator::Add)
      .def_ro("sum", &Accumulator::sum);
}
