// Functions that take tensors as py::array_t and as Arg, for docs/migrating/pybind11.md.
//
// A row of the page is a pair of aliases of one name, in the namespaces `before` and `after`. The
// module has submodules `before` and `after`, whose functions take these types.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "dovetail/python/casters/pybind11.h"

// Arguments are taken by value, as these libraries' own documentation does.
// NOLINTBEGIN(performance-unnecessary-value-param)

namespace py = pybind11;
using dovetail::AllowCast, dovetail::AllowCopy, dovetail::Arg, dovetail::Contiguous;
using dovetail::OwnedTensor, dovetail::Rank;

namespace before {

using Vector = py::array_t<float, py::array::c_style>;
using Converted = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Written = py::array_t<float>;
using Any = py::array;
using Maybe = std::optional<py::array_t<float>>;
using Several = std::vector<py::array_t<float>>;
using Result = py::array_t<float>;

Result Doubled(Vector x) {
  if (x.ndim() != 1) throw py::value_error("x must have one dimension");
  Result y(x.size());
  auto out = y.mutable_unchecked<1>();
  for (py::ssize_t i = 0; i < x.size(); ++i) out(i) = 2 * x.data()[i];
  return y;
}

}  // namespace before

namespace after {

using Vector = Arg<const float, Contiguous>;
using Converted = Arg<const float, Contiguous, AllowCast, AllowCopy>;
using Written = Arg<float>;
using Any = Arg<const void>;
using Maybe = std::optional<Arg<const float>>;
using Several = std::vector<Arg<const float>>;
using Result = OwnedTensor;

Result Doubled(Arg<const float, Rank<1>, Contiguous> x) {
  Result y = dovetail::EmptyLike(x);
  for (int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = 2 * x[i];
  return y;
}

}  // namespace after

namespace {

void DefineBefore(py::module_ m) {
  m.def("vector", [](before::Vector x) { return x.data()[0]; });
  m.def("converted", [](before::Converted x) { return x.data()[0]; });
  m.def("written", [](before::Written x) { x.mutable_at(0) = 7; });
  m.def("any", [](before::Any x) { return x.ndim(); });
  m.def("maybe", [](before::Maybe x) { return x.has_value(); }, py::arg("x") = py::none());
  m.def("several", [](before::Several x) { return x.size(); });
  m.def("result", &before::Doubled);
}

void DefineAfter(py::module_ m) {
  m.def("vector", [](after::Vector x) { return x[0]; });
  m.def("converted", [](after::Converted x) { return x[0]; });
  m.def("written", [](after::Written x) { x(0) = 7; });
  m.def("any", [](after::Any x) { return x.ndim(); });
  m.def("maybe", [](after::Maybe x) { return x.has_value(); }, py::arg("x") = py::none());
  m.def("several", [](after::Several x) { return x.size(); });
  m.def("result", &after::Doubled);
}

}  // namespace

PYBIND11_MODULE(migrating_pybind11, m, py::mod_gil_not_used()) {
  DefineBefore(m.def_submodule("before"));
  DefineAfter(m.def_submodule("after"));
  m.def("strict", [](before::Vector x) { return x.data()[0]; }, py::arg("x").noconvert());
}

// NOLINTEND(performance-unnecessary-value-param)
