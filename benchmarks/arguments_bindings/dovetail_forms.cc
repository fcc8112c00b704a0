// What benchmarks/arguments.py compares within one extension: forms of arguments, and loops over
// them beside loops over plain pointers.
//
//   typed3(x, y, z), one_of3     three float32 vectors; the same, whose type is one of three
//   copy(x, out)                 writes to `out`, or to a tensor that is made for None
//   list(tensors), one(x)
//   raw_uint8(x, y), dense_…     y = 3 x + 1 over plain pointers, and by x[i]
//   raw_2d_uint8(x, y), by_index_…     the same over two strided dimensions, and by x(i, j)

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dovetail/python/arg.h"
#include "dovetail/python/args/one_of.h"
#include "dovetail/python/args/out.h"
#include "dovetail/python/casters/nanobind.h"

namespace nb = nanobind;
using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::Out;
using dovetail::Rank;
using dovetail::Shape;

namespace {

using Vector = Arg<const float, Shape<"n">, Contiguous>;
using Real = dovetail::OneOf<"T", float, double, int32_t>;
using AnyVector = Arg<const Real, Shape<"n">, Contiguous>;

template <typename T>
[[gnu::noinline]] void Raw(const T* x, T* y, int64_t size) {
  for (int64_t i = 0; i < size; ++i) y[i] = static_cast<T>(x[i] * 3 + 1);
}

template <typename T>
[[gnu::noinline]] void Dense(Arg<const T, Contiguous> x, Arg<T, Contiguous> y) {
  for (int64_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>(x[i] * 3 + 1);
}

// Of two dimensions, with strides in elements.
template <typename T>
struct Strided {
  T* data;
  int64_t rows, columns, row_stride, column_stride;
};

template <typename T>
[[gnu::noinline]] void Raw2d(Strided<const T> x, Strided<T> y) {
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < x.columns; ++j) {
      y.data[i * y.row_stride + j * y.column_stride] =
          static_cast<T>(x.data[i * x.row_stride + j * x.column_stride] * 3 + 1);
    }
  }
}

template <typename T>
[[gnu::noinline]] void ByIndex(Arg<const T, Rank<2>> x, Arg<T, Rank<2>> y) {
  for (int64_t i = 0; i < x.shape(0); ++i) {
    for (int64_t j = 0; j < x.shape(1); ++j) y(i, j) = static_cast<T>(x(i, j) * 3 + 1);
  }
}

template <typename T>
void DefineLoops(nb::module_& m, const std::string& name) {
  m.def(("raw_" + name).c_str(), [](Arg<const T, Contiguous> x, Arg<T, Contiguous> y) {
    Raw<T>(x.data(), y.data(), x.size());
  });
  m.def(("dense_" + name).c_str(), &Dense<T>);
  m.def(("raw_2d_" + name).c_str(), [](Arg<const T, Rank<2>> x, Arg<T, Rank<2>> y) {
    Raw2d<T>({x.data(), x.shape(0), x.shape(1), x.stride(0), x.stride(1)},
             {y.data(), y.shape(0), y.shape(1), y.stride(0), y.stride(1)});
  });
  m.def(("by_index_" + name).c_str(), &ByIndex<T>);
}

}  // namespace

NB_MODULE(dovetail_forms, m) {
  m.def("typed3", [](Vector, Vector, Vector) {});
  m.def("one_of3", [](AnyVector, AnyVector, AnyVector) {});
  m.def("copy", dovetail::Kernel([](Vector x, Out<float, Shape<"n">, Contiguous> out) {
          for (int64_t i = 0; i < x.size(); ++i) out[i] = x[i];
        }),
        nb::arg("x"), nb::arg("out") = nb::none());
  m.def("one", [](Vector) {});
  m.def("list", [](const std::vector<Vector>& all) { return all.size(); });
  DefineLoops<uint8_t>(m, "uint8");
  DefineLoops<int64_t>(m, "int64");
  DefineLoops<float>(m, "float32");
}
