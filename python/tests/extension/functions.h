// The functions of the test extensions, of which there is one for each way of binding.

#ifndef DOVETAIL_PYTHON_TESTS_EXTENSION_FUNCTIONS_H_
#define DOVETAIL_PYTHON_TESTS_EXTENSION_FUNCTIONS_H_

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dovetail/python/arg.h"
#include "dovetail/python/owned_tensor.h"

// A type of the program's own, whose DLPack type it declares.
struct BFloat16 {
  uint16_t bits;
};
template <>
struct dovetail::DLPackType<BFloat16> {
  static constexpr DLDataType value = {kDLBfloat, 16, 1};
};

namespace dovetail_test {

using dovetail::Aligned;
using dovetail::AllowCast;
using dovetail::AllowCopy;
using dovetail::AllowRepeats;
using dovetail::AnyDevice;
using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::FContiguous;
using dovetail::InnerContiguous;
using dovetail::OnCuda;
using dovetail::OwnedTensor;
using dovetail::Rank;
using dovetail::ReadOnly;
using dovetail::Shape;
using dovetail::Strides;

template <typename A>
uintptr_t AddressOf(const A& x) {
  return reinterpret_cast<uintptr_t>(x.data());
}

inline void Add(Arg<const float, Shape<"n">, Contiguous> x,
                Arg<const float, Shape<"n">, Contiguous> y,
                Arg<float, Shape<"n">, Contiguous> out) {
  for (int64_t i = 0; i < out.size(); ++i) out[i] = x[i] + y[i];
}

inline OwnedTensor Doubled(Arg<const float, Contiguous> x) {
  OwnedTensor y = OwnedTensor::EmptyLike(x);
  if (!y) return y;
  float* to = y.data<float>();
  for (float value : x) *to++ = 2 * value;
  return y;
}

// The elements in row-major order, by their indices.
inline std::vector<float> Elements(Arg<const float, Rank<2>> x) {
  std::vector<float> values;
  for (int64_t i = 0; i < x.shape(0); ++i) {
    for (int64_t j = 0; j < x.shape(1); ++j) values.push_back(x(i, j));
  }
  return values;
}

template <typename T, typename Module>
void DefineKind(Module& m, const char* name) {
  m.def("kind", [name](Arg<const T>) { return name; });
  m.def(name, [](Arg<const T, AnyDevice> x) { return AddressOf(x); });
}

// One class for each extension: nanobind has one registry of classes for all of them.
template <int kExtension>
struct Accumulator {
  float sum = 0;
  void Add(Arg<const float, Contiguous> x) {
    for (float value : x.span()) sum += value;
  }
};

// Overloads, and what comes before and after their tensors.
template <typename Module>
void DefineOverloads(Module& m) {
  m.def("norm", [](Arg<const float, Shape<"n">>, Arg<const float, Shape<"n">>, float) {
    return "float32";
  });
  m.def("norm", [](Arg<const BFloat16, Shape<"n">>, Arg<const BFloat16, Shape<"n">>, float) {
    return "bfloat16";
  });
  m.def("norm", [](Arg<const double, Shape<"n">>, Arg<const double, Shape<"n">>, float) {
    return "float64";
  });
  m.def("factored", [](float, Arg<const float>) { return "float32"; });
  m.def("factored", [](float, Arg<const double>) { return "float64"; });
  m.def("listed", [](Arg<const double, Rank<1>>) { return "float64"; });
  m.def("listed", [](Arg<const float, Rank<1>>) { return "float32"; });
  m.def("listed", [](const std::vector<float>&) { return "list"; });
  m.def("weighted", [](float weight, Arg<const float, Shape<"n">> x,
                       Arg<const float, Shape<"n">> y) { return weight * x(0) + y(0); });
  m.def("some", [](std::optional<Arg<const float>>, Arg<const float> x) { return x.size(); });
}

// Adds the functions to a module of nanobind or of pybind11.
template <typename Module>
void Define(Module& m) {
  m.def("add", &Add);
  m.def("doubled", &Doubled);
  m.def("elements", [](Arg<const float, Rank<2>> x) {
    float sum = 0, weight = 1;
    for (float value : Elements(x)) sum += weight++ * value;
    return sum;
  });
  m.def("address", [](Arg<const void, AnyDevice> x) { return AddressOf(x); });
  m.def("writable", [](Arg<void> x) { return AddressOf(x); });
  m.def("rank", [](Arg<const void, AnyDevice> x) { return x.ndim(); });
  m.def("size", [](Arg<const void, AnyDevice> x) { return x.size(); });
  m.def("read_only", [](Arg<const void> x) { return x.is_read_only(); });

  DefineKind<bool>(m, "bool");
  DefineKind<int8_t>(m, "int8");
  DefineKind<int16_t>(m, "int16");
  DefineKind<int32_t>(m, "int32");
  DefineKind<int64_t>(m, "int64");
  DefineKind<uint8_t>(m, "uint8");
  DefineKind<uint16_t>(m, "uint16");
  DefineKind<uint32_t>(m, "uint32");
  DefineKind<uint64_t>(m, "uint64");
  DefineKind<float>(m, "float32");
  DefineKind<double>(m, "float64");
  DefineKind<std::complex<float>>(m, "complex64");
  DefineKind<std::complex<double>>(m, "complex128");
  DefineKind<BFloat16>(m, "bfloat16");

  DefineOverloads(m);

  m.def("matrix", [](Arg<const float, Shape<-1, 3>> x) { return x.shape(0); });
  m.def("square", [](Arg<const float, Shape<"n", "n">> x) { return x.shape(0); });
  m.def("product",
        [](Arg<const float, Shape<"rows", "k">> a, Arg<const float, Shape<"k", "cols">> b,
           Arg<float, Shape<"rows", "cols">> out) {
          for (int64_t i = 0; i < out.shape(0); ++i) {
            for (int64_t j = 0; j < out.shape(1); ++j) {
              out(i, j) = 0;
              for (int64_t k = 0; k < a.shape(1); ++k) out(i, j) += a(i, k) * b(k, j);
            }
          }
        });
  m.def("nine_names", [](Arg<const float, Shape<"a", "b", "c", "d", "e", "f", "g", "h", "i">> x) {
    return x.ndim();
  });
  m.def("c_contiguous", [](Arg<const float, Contiguous> x) { return AddressOf(x); });
  m.def("f_contiguous", [](Arg<const float, FContiguous> x) { return AddressOf(x); });
  m.def("repeats", [](Arg<float, AllowRepeats> x) { return AddressOf(x); });
  m.def("inner_contiguous", [](Arg<const float, InnerContiguous> x) { return AddressOf(x); });
  m.def("strided", [](Arg<const float, Strides<DOVETAIL_ANY_STRIDE, 2>> x) { return x.stride(0); });
  m.def("aligned", [](Arg<const float, Aligned<64>> x) { return AddressOf(x); });
  m.def("tagged", [](Arg<float, ReadOnly> x) { return AddressOf(x); });
  m.def("copied", [](Arg<const float, Contiguous, AllowCopy> x) {
    return std::make_pair(x.is_copy(), x.empty() ? 0.0f : x[x.size() - 1]);
  });
  m.def("cast", [](Arg<const float, Contiguous, AllowCopy, AllowCast> x) {
    return std::make_pair(x.is_copy(), x.empty() ? 0.0f : x[x.size() - 1]);
  });
  m.def("on_cuda", [](Arg<const float, OnCuda> x) {
    return std::make_pair(AddressOf(x), reinterpret_cast<uintptr_t>(x.stream()));
  });
  m.def("like", [](Arg<const void, AnyDevice> x) { return OwnedTensor::EmptyLike(x); });
  m.def("optional", [](std::optional<Arg<const float>> x) { return x ? x->size() : -1; });
  m.def("scaled", [](float factor, Arg<const float> first, Arg<const void> second) {
    return OwnedTensor::Wrap(std::vector<float>{factor * first(0)}, {second.size()});
  });
  m.def("wrapped", [] { return OwnedTensor::Wrap(std::vector<float>{1, 2, 3, 4}, {2, 2}); });
  m.def("shared", [](OwnedTensor x) { return x; });
  m.def("fill", [](OwnedTensor x) { *x.data<float>() = 7; });
  m.def("fill_all", [](const std::vector<OwnedTensor>& all) {
    for (const OwnedTensor& x : all) *x.data<float>() = 7;
  });
  m.def("first", [](OwnedTensor x) { return *x.data<const float>(); });
  m.def("with_owned", [](OwnedTensor x, Arg<const float> y) { return x.size() + y.size(); });
  m.def("throws", [](Arg<const float>) { throw std::runtime_error("from the body"); });
}

}  // namespace dovetail_test

#endif  // DOVETAIL_PYTHON_TESTS_EXTENSION_FUNCTIONS_H_
