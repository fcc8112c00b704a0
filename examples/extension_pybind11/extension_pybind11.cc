// An extension module by pybind11 whose functions take float32 tensors of every library:
//
//   add(x, y, out)     writes x + y to out
//   normalize(x)       returns x / sqrt(sum(x^2)) as a new tensor of the library of x

#include <pybind11/pybind11.h>

#include <cmath>
#include <cstdint>

#include "dovetail/python/casters/pybind11.h"

namespace py = pybind11;
using dovetail::AllowCopy;
using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::OwnedTensor;
using dovetail::Shape;

namespace {

using Vector = Arg<const float, Shape<"n">, Contiguous>;
using OutputVector = Arg<float, Shape<"n">, Contiguous>;

void Add(Vector x, Vector y, OutputVector out) {
  for (int64_t i = 0; i < out.size(); ++i) out[i] = x[i] + y[i];
}

// Any shape. A tensor with other strides is copied.
OwnedTensor Normalize(Arg<const float, Contiguous, AllowCopy> x) {
  OwnedTensor result = OwnedTensor::EmptyLike(x);
  if (!result) return result;  // a Python error is set
  double squares = 0;
  for (float value : x) squares += double{value} * value;
  const float norm = static_cast<float>(std::sqrt(squares));
  float* out = result.data<float>();
  for (float value : x) *out++ = value / norm;
  return result;
}

}  // namespace

PYBIND11_MODULE(extension_pybind11, m, py::mod_gil_not_used()) {
  m.def("add", &Add, py::arg("x"), py::arg("y"), py::arg("out"),
        "Write x + y to out: float32 tensors of one dimension.");
  m.def("normalize", &Normalize, py::arg("x"),
        "Return x / sqrt(sum(x^2)) as a tensor of the library of x.");
}
