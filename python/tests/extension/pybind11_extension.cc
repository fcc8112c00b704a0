// An extension module whose functions take tensors of every library, bound by pybind11.

#include <pybind11/pybind11.h>

#include <complex>
#include <cstdint>
#include <optional>

#include "dovetail/python/casters/pybind11.h"

namespace py = pybind11;
using dovetail::AllowCast;
using dovetail::AllowCopy;
using dovetail::AnyDevice;
using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::FContiguous;
using dovetail::OnCuda;
using dovetail::OwnedTensor;
using dovetail::Rank;
using dovetail::Shape;

namespace {

using Vector = Arg<const float, Shape<"n">, Contiguous>;
using Output = Arg<float, Shape<"n">, Contiguous>;

void Add(Vector x, Vector y, Output out) {
  for (int64_t i = 0; i < out.size(); ++i) out[i] = x[i] + y[i];
}

OwnedTensor Doubled(const Arg<const float, Contiguous>& x) {
  OwnedTensor y = OwnedTensor::EmptyLike(x);
  if (!y) return y;
  for (int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = 2 * x[i];
  return y;
}

}  // namespace

PYBIND11_MODULE(pybind11_extension, m) {
  m.def("add", &Add, py::arg("x"), py::arg("y"), py::arg("out"));
  m.def("add3", &Add);
  m.def("doubled", &Doubled);
  m.def("nothing3", [](py::handle, py::handle, py::handle) {});
  m.def("address",
        [](Arg<const void, AnyDevice> x) { return reinterpret_cast<uintptr_t>(x.data()); });
  m.def("sum", [](Arg<const float> x) {
    float s = 0;
    return x.ndim() == 1 ? [&] {
      for (int64_t i = 0; i < x.shape(0); ++i) s += x(i);
      return s;
    }()
                         : s;
  });
  m.def("kind", [](Arg<const float>) { return "float32"; });
  m.def("kind", [](Arg<const double>) { return "float64"; });
  m.def("kind", [](Arg<const std::complex<float>>) { return "complex64"; });
  m.def(
      "maybe", [](std::optional<Arg<const float>> x) { return x.has_value() ? x->size() : -1; },
      py::arg("x").none());
  m.def("share", [](dovetail::Tensor t) { return t; });
}
