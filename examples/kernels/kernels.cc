// The kernels of functions.h, bound by nanobind.

#include <nanobind/nanobind.h>

#include "dovetail/python/casters/nanobind.h"
#include "functions.h"

namespace nb = nanobind;
using namespace nb::literals;
using dovetail::Kernel;
using namespace examples;

NB_MODULE(kernels, m) {
  m.def("scale", Kernel(&Scale), "x"_a, "factor"_a, "out"_a = nb::none());
  m.def("rms_norm", Kernel(&RmsNorm), "x"_a, "weight"_a, "eps"_a = 1e-6, "out"_a = nb::none());
  m.def("rotate", Kernel(&Rotate), "x"_a, "cosine"_a, "sine"_a);
  m.def("gather_pages", Kernel(&GatherPages), "pages"_a, "table"_a, "out"_a = nb::none());
  m.def("max_of_rows", Kernel(&MaxOfRows), "x"_a, nb::kw_only(), "values"_a = nb::none(),
        "indices"_a = nb::none());
  m.def("dequantize_int4", Kernel(&DequantizeInt4), "packed"_a, "scale"_a, "out"_a = nb::none());
  m.def("flatten", &Flatten, "tensors"_a, nb::kw_only(), "scale"_a = 1.0);
}
