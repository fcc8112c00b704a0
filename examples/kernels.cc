// The kernels of docs/extensions.md, which //docs/site:pages_test compares and calls.

// kernels.cc
#include <nanobind/nanobind.h>
#include "dovetail/python/casters/nanobind.h"

using dovetail::Arg, dovetail::Contiguous, dovetail::OwnedTensor, dovetail::Shape;

NB_MODULE(kernels, m) {
  m.def("add",
        [](Arg<const float, Shape<"n">, Contiguous> x, Arg<const float, Shape<"n">, Contiguous> y,
           Arg<float, Shape<"n">, Contiguous> out) {
          for (int64_t i = 0; i < out.size(); ++i) out[i] = x[i] + y[i];
        });
  m.def("doubled", [](Arg<const float, Contiguous> x) {
    OwnedTensor y = OwnedTensor::EmptyLike(x);
    if (!y) return y;  // a Python error is set
    for (int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = 2 * x[i];
    return y;
  });
}
