// The kernels of docs/extensions.md, which //docs/site:pages_test compares and calls.

// kernels.cc
#include <nanobind/nanobind.h>
#include "dovetail/python/casters/nanobind.h"

namespace nb = nanobind;
using dovetail::Arg, dovetail::Contiguous, dovetail::Kernel, dovetail::Out, dovetail::OwnedTensor,
    dovetail::Shape;

void Add(Arg<const float, Shape<"n">, Contiguous> x, Arg<const float, Shape<"n">, Contiguous> y,
         Out<float, Shape<"n">, Contiguous> out) {
  for (int64_t i = 0; i < out.size(); ++i) out[i] = x[i] + y[i];
}

NB_MODULE(kernels, m) {
  m.def("add", Kernel(&Add), nb::arg("x"), nb::arg("y"), nb::arg("out") = nb::none());
  m.def("doubled", [](Arg<const float, Contiguous> x) {
    OwnedTensor y = dovetail::EmptyLike(x);
    for (int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = 2 * x[i];
    return y;
  });
}
