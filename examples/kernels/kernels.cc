// The module of kernels.h, by nanobind.

#include <nanobind/nanobind.h>

#include "dovetail/examples/kernels/kernels.h"
#include "dovetail/python/casters/nanobind.h"

namespace nb = nanobind;
using namespace nb::literals;
using dovetail::Kernel;

NB_MODULE(kernels, m) {
  m.def("rms_norm", Kernel(&kernels::RmsNorm), "x"_a, "weight"_a, "eps"_a = 1e-6,
        "out"_a = nb::none());
  m.def("rotate", Kernel(&kernels::Rotate), "x"_a, "cosine"_a, "sine"_a);
  m.def("gather_pages", Kernel(&kernels::GatherPages), "pages"_a, "table"_a, "out"_a = nb::none());
  m.def("max_of_rows", Kernel(&kernels::MaxOfRows), "x"_a, nb::kw_only(),
        "values"_a = nb::none(), "indices"_a = nb::none());
  m.def("dequantize_int4", Kernel(&kernels::DequantizeInt4), "packed"_a, "scale"_a,
        "out"_a = nb::none());
  m.def("flatten", &kernels::Flatten, "tensors"_a, nb::kw_only(), "scale"_a = 1.0);
}
