// Functions that take tensors as nb::ndarray and as Arg, for docs/migrating/nanobind.md.
//
// A row of the page is a pair of aliases of one name, in the namespaces `before` and `after`. The
// module has submodules `before` and `after`, whose functions take these types.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dovetail/python/args/one_of.h"
#include "dovetail/python/casters/nanobind.h"

// Arguments are taken by value, as these libraries' own documentation does.
// NOLINTBEGIN(performance-unnecessary-value-param)

namespace nb = nanobind;
using dovetail::AllowCast, dovetail::AllowCopy, dovetail::FContiguous, dovetail::OnCuda;
using dovetail::Arg, dovetail::Contiguous, dovetail::OwnedTensor;
using dovetail::OneOf, dovetail::Rank, dovetail::Shape;

namespace before {

using Vector = nb::ndarray<const float, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Written = nb::ndarray<float, nb::shape<-1>, nb::device::cpu>;
using Strided = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
using Points = nb::ndarray<const float, nb::shape<-1, 3>, nb::device::cpu>;
using ColumnMajor = nb::ndarray<const float, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Any = nb::ndarray<nb::ro, nb::device::cpu>;
using Real = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using Gpu = nb::ndarray<const float, nb::device::cuda>;
using Maybe = std::optional<nb::ndarray<const float, nb::device::cpu>>;
using Several = std::vector<nb::ndarray<const float, nb::device::cpu>>;
using Result = nb::ndarray<nb::numpy, float, nb::ndim<1>>;

Result Doubled(Vector x) {
  const size_t n = x.size();
  float* y = new float[n];
  nb::capsule owner(y, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  for (size_t i = 0; i < n; ++i) y[i] = 2 * x.data()[i];
  return Result(y, {n}, owner);
}

double Sum(Real x) {
  double sum = 0;
  if (x.dtype() == nb::dtype<float>()) {
    auto v = x.view<const float, nb::ndim<1>>();
    for (size_t i = 0; i < v.shape(0); ++i) sum += v(i);
  } else if (x.dtype() == nb::dtype<double>()) {
    auto v = x.view<const double, nb::ndim<1>>();
    for (size_t i = 0; i < v.shape(0); ++i) sum += v(i);
  } else {
    throw nb::type_error("x must be float32 or float64");
  }
  return sum;
}

}  // namespace before

namespace after {

using Vector = Arg<const float, Rank<1>, Contiguous>;
using Written = Arg<float, Rank<1>>;
using Strided = Arg<const float, Rank<2>>;
using Points = Arg<const float, Shape<-1, 3>>;
using ColumnMajor = Arg<const float, Rank<2>, FContiguous>;
using Any = Arg<const void>;
using Real = Arg<const OneOf<"T", float, double>, Rank<1>>;
using Gpu = Arg<const float, OnCuda>;
using Maybe = std::optional<Arg<const float>>;
using Several = std::vector<Arg<const float>>;
using Result = OwnedTensor;

Result Doubled(Vector x) {
  Result y = dovetail::EmptyLike(x);
  for (int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = 2 * x[i];
  return y;
}

double Sum(Real x) {
  double sum = 0;
  Dispatch(x, [&]<class T>() {
    const auto v = x.view<T>();
    for (int64_t i = 0; i < v.size(); ++i) sum += v(i);
  });
  return sum;
}

}  // namespace after

namespace {

void DefineBefore(nb::module_ m) {
  m.def("vector", [](before::Vector x) { return x.data()[0]; });
  m.def("written", [](before::Written x) { x(0) = 7; });
  m.def("strided", [](before::Strided x) { return x.stride(0); });
  m.def("points", [](before::Points x) { return x.shape(0); });
  m.def("column_major", [](before::ColumnMajor x) { return x.stride(1); });
  m.def("any", [](before::Any x) { return x.ndim(); });
  m.def("real", &before::Sum);
  m.def("gpu", [](before::Gpu x) { return x.size(); });
  m.def("maybe", [](before::Maybe x) { return x.has_value(); }, nb::arg("x") = nb::none());
  m.def("several", [](before::Several x) { return x.size(); });
  m.def("result", &before::Doubled);
}

void DefineAfter(nb::module_ m) {
  m.def("vector", [](after::Vector x) { return x[0]; });
  m.def("written", [](after::Written x) { x(0) = 7; });
  m.def("strided", [](after::Strided x) { return x.stride(0); });
  m.def("points", [](after::Points x) { return x.shape(0); });
  m.def("column_major", [](after::ColumnMajor x) { return x.stride(1); });
  m.def("any", [](after::Any x) { return x.ndim(); });
  m.def("real", &after::Sum);
  m.def("gpu", [](after::Gpu x) { return x.size(); });
  m.def("maybe", [](after::Maybe x) { return x.has_value(); }, nb::arg("x") = nb::none());
  m.def("several", [](after::Several x) { return x.size(); });
  m.def("result", &after::Doubled);
}

}  // namespace

NB_MODULE(migrating_nanobind, m) {
  DefineBefore(m.def_submodule("before"));
  DefineAfter(m.def_submodule("after"));
  // What nb::ndarray does without being asked, said by rules.
  m.def("converted", [](Arg<const float, Contiguous, AllowCast, AllowCopy> x) { return x[0]; });
  m.def("strict", [](before::Vector x) { return x.data()[0]; }, nb::arg("x").noconvert());
}

// NOLINTEND(performance-unnecessary-value-param)
