// The kernels of functions.h, bound by nanobind.

#include <nanobind/nanobind.h>

#include "dovetail/python/casters/nanobind.h"
#include "functions.h"

namespace nb = nanobind;
using namespace nb::literals;
using dovetail::Kernel;

NB_MODULE(kernels, m) {
  m.def("scale", Kernel(&examples::Scale), "x"_a, "factor"_a, "out"_a = nb::none());
  m.def("rms_norm", Kernel(&examples::RmsNorm), "x"_a, "weight"_a, "eps"_a = 1e-6,
        "out"_a = nb::none());
  m.def("rotate", Kernel(&examples::Rotate), "x"_a, "cosine"_a, "sine"_a);
  m.def("gather_pages", Kernel(&examples::GatherPages), "pages"_a, "table"_a, "out"_a = nb::none());
  m.def("max_of_rows", Kernel(&examples::MaxOfRows), "x"_a, nb::kw_only(), "values"_a = nb::none(),
        "indices"_a = nb::none());
  m.def("dequantize_int4", Kernel(&examples::DequantizeInt4), "packed"_a, "scale"_a,
        "out"_a = nb::none());
  m.def("flatten", &examples::Flatten, "tensors"_a, nb::kw_only(), "scale"_a = 1.0);
}
