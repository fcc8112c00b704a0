// The test functions, bound by pybind11, with Dovetail linked in.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "dovetail/python/casters/pybind11.h"
#include "dovetail/python/tests/extension/functions.h"
#include "dovetail/python/tests/extension/kernel_functions.h"

namespace py = pybind11;
using Accumulator = dovetail_test::Accumulator<2>;

PYBIND11_MODULE(pybind11_extension, m, py::mod_gil_not_used()) {
  dovetail_test::Define(m);
  dovetail_test::DefineKernels(m);
  m.def("named", &dovetail_test::Add, py::arg("x"), py::arg("y"), py::arg("out"));
  m.def(
      "without_gil",
      [](dovetail::Arg<const float> x) { return PyGILState_Check() == 0 && x.data() != nullptr; },
      py::call_guard<py::gil_scoped_release>());
  m.def(
      "empty_without_gil",
      [](dovetail::Arg<const float>, int64_t size) {
        return dovetail::OwnedTensor::Empty<float>({size});
      },
      py::call_guard<py::gil_scoped_release>());
  m.def(
      "wrapped_without_gil",
      [](int64_t size) { return dovetail::OwnedTensor::Wrap(std::vector<float>{1}, {size}); },
      py::call_guard<py::gil_scoped_release>());
  m.def("calling", [](dovetail::Arg<const float>, const py::object& f) { return f(); });
  m.def("with_rest", [](dovetail::Arg<const float> x, const py::args&) {
    return dovetail::OwnedTensor::EmptyLike(x);
  });
  m.def("linked", [](dovetail::Tensor tensor) { return tensor; });
  py::class_<Accumulator>(m, "Accumulator")
      .def(py::init<>())
      .def("add", &Accumulator::Add)
      .def_readonly("sum", &Accumulator::sum);
}
