// What arguments of kernels may be, one function for each: bound by every binding library.

#ifndef DOVETAIL_PYTHON_TESTS_EXTENSION_KERNEL_FUNCTIONS_H_
#define DOVETAIL_PYTHON_TESTS_EXTENSION_KERNEL_FUNCTIONS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/freestanding/narrow_floats.h"
#include "dovetail/python/arg.h"
#include "dovetail/python/args/one_of.h"
#include "dovetail/python/args/out.h"
#include "dovetail/python/args/parallel_for.h"
#include "dovetail/python/args/reduce.h"
#include "dovetail/python/args/rows.h"
#include "dovetail/python/args/size_arg.h"
#include "dovetail/python/owned_tensor.h"

namespace dovetail_test {

namespace kernel {

using dovetail::AllowCast;
using dovetail::AllowCopy;
using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::Dispatch;
using dovetail::InnerContiguous;
using dovetail::InOut;
using dovetail::Kernel;
using dovetail::MinRank;
using dovetail::NoOverlap;
using dovetail::OnCuda;
using dovetail::OneOf;
using dovetail::Out;
using dovetail::OwnedTensor;
using dovetail::Rank;
using dovetail::Row;
using dovetail::Shape;
using dovetail::SizeArg;
using dovetail::Times;
using dovetail::Twice;

using Real = OneOf<"T", float, double, dovetail::bfloat16>;
using Floats = Arg<const float, Shape<"n">>;

// Of k_out_on_cuda.
inline std::pair<uintptr_t, uintptr_t> last_out;

inline void Copy(Arg<const Real, Shape<"...", "n">> x, Out<Real, Shape<"...", "n">> y) {
  Dispatch(x, [&]<class T>() {
    if (x.ndim() != 2) return;
    const auto in = x.view<T, 2>();
    const auto out = y.view<T, 2>();
    for (int64_t i = 0; i < in.shape(0); ++i) {
      for (int64_t j = 0; j < in.shape(1); ++j) out(i, j) = in(i, j);
    }
  });
}

inline void AddRows(Arg<const float, Shape<"...", "n">, InnerContiguous> x,
                    Arg<const float, Shape<"...", "n">, InnerContiguous> y,
                    Out<float, Shape<"...", "n">, InnerContiguous> out) {
  Rows(x, y, out, [](Row<const float> a, Row<const float> b, Row<float> c) {
    Transform(a, b, c, [](float v, float w) { return v + w; });
  });
}

inline void Fill(Floats x, Out<float, Shape<2, "n">, Contiguous> a,
                 Out<int64_t, Shape<Times<3, "n">>, Contiguous> b) {
  for (float& v : a) v = x.empty() ? 0 : x(0);
  for (int64_t i = 0; i < b.size(); ++i) b[i] = i;
}

}  // namespace kernel

// Adds the functions to a module of nanobind or of pybind11.
template <typename Module>
void DefineKernels(Module& m) {
  using namespace kernel;  // NOLINT(google-build-using-namespace): this function's names
  m.def("k_copy", Kernel(&Copy));
  m.def("k_add_rows", Kernel(&AddRows));
  m.def("k_fill", Kernel(&Fill));
  m.def("k_same_type", [](Arg<const Real> x, Arg<const Real> y) {
    return std::make_pair(x.template holds<double>(), y.ndim());
  });
  m.def("k_other_name", [](Arg<const Real> x, Arg<const OneOf<"U", int64_t, float>> y) {
    return x.ndim() + y.ndim();
  });
  m.def("k_cast", [](Arg<const Real> x, Arg<const Real, AllowCast, AllowCopy> y) {
    return Dispatch(x, [&]<class T>() { return static_cast<double>(y.template view<T, 1>()(0)); });
  });
  m.def("k_leading", [](Arg<const float, Shape<"...", 3, "n">> x) {
    std::vector<int64_t> sizes(x.leading_shape().begin(), x.leading_shape().end());
    sizes.push_back(x.template shape<"n">());
    return static_cast<int64_t>(sizes.size() * 1000) + sizes.back();
  });
  m.def("k_two_leads", [](Arg<const float, Shape<"...a", 1>>, Arg<const float, Shape<"...b", 1>>,
                          Arg<const float, Shape<"...a", 1>> z) { return z.ndim(); });
  m.def("k_same_shape",
        [](Arg<const float, Shape<"...">> x, Arg<const float, Shape<"...">>) { return x.ndim(); });
  m.def("k_shape_of_rows", [](Arg<const float, Shape<"...", "n">> x,
                              Arg<const float, Shape<"...">>) { return x.ndim(); });
  m.def("k_three_shapes", [](Arg<const float, Shape<"...a">> x, Arg<const float, Shape<"...b">>,
                             Arg<const float, Shape<"...c">>) { return x.ndim(); });
  m.def("k_shapes_in_list",
        [](const std::vector<Arg<const float, Shape<"...">>>& all) { return all.size(); });
  m.def("k_leads_in_list",
        [](const std::vector<Arg<const float, Shape<"...", "n">>>& all) { return all.size(); });
  m.def("k_min_rank", [](Arg<const float, MinRank<2>> x) { return x.leading_shape().size(); });
  m.def("k_long", [](Arg<const float, Shape<"tokens_per_expert">> x,
                     Arg<const float, Shape<Twice<"tokens_per_expert">>> y) {
    return x.template shape<"tokens_per_expert">() + y.shape(0);
  });
  m.def("k_twice_first", [](Arg<const float, Shape<Twice<"half">>> x,
                            Arg<const float, Shape<"half">> y) { return x.size() + y.size(); });
  m.def("k_no_overlap", [](Arg<float, Rank<2>, NoOverlap> out, Arg<const float, Rank<2>> x) {
    return out.size() + x.size();
  });
  m.def("k_no_overlap_list",
        [](const std::vector<Arg<const float>>& all, Arg<float, NoOverlap> out) {
          return static_cast<int64_t>(all.size()) + out.size();
        });
  m.def("k_increment", Kernel([](InOut<float, Shape<"n">> x) {
          for (int64_t i = 0; i < x.shape(0); ++i) x(i) += 1;
        }));
  m.def("k_arange", Kernel([](Floats x, Out<OneOf<"I", int64_t, int32_t>, Shape<"n">> y) {
          Dispatch(y, [&]<class I>() {
            const auto v = y.template view<I>();
            for (int64_t i = 0; i < x.size(); ++i) v(i) = static_cast<I>(i);
          });
        }));
  // The address of the result, and the stream on which it is to be filled, are left in a global.
  m.def("k_out_on_cuda",
        Kernel([](Arg<const float, Shape<"n">, OnCuda>, Out<float, Shape<"n">, OnCuda> y) {
          last_out = {reinterpret_cast<uintptr_t>(y.data()),
                      reinterpret_cast<uintptr_t>(y.stream())};
        }));
  m.def("k_last_out", [] { return last_out; });
  m.def("k_first", Kernel([](Arg<const float, Shape<"...", "n">, InnerContiguous> x, SizeArg<"k"> k,
                             Out<float, Shape<"...", "k">, InnerContiguous> y) {
          if (k > x.template shape<"n">()) throw std::invalid_argument("k is larger than n");
          Rows(x, y, [](Row<const float> in, Row<float> out) {
            for (int64_t i = 0; i < out.size(); ++i) out[i] = in[i];
          });
        }));
  m.def("k_numbers",
        Kernel([](Arg<const Real, Shape<"rows", "n">, InnerContiguous> x,
                  Arg<const OneOf<"I", int64_t, int32_t>, Shape<"rows", "m">, InnerContiguous> at,
                  Out<double, Shape<"rows", 2>, Contiguous> y) {
          Dispatch(x, [&]<class T>() {
            Dispatch(at, [&]<class I>() {
              Rows(x.template view<T>(), at.template view<I>(), y,
                   [](int64_t number, Row<const T> in, Row<const I> indices, Row<double> out) {
                     out[0] = static_cast<double>(number);
                     out[1] = Sum(in, [](auto v) { return static_cast<double>(v); }) +
                              static_cast<double>(Sum(indices));
                   });
            });
          });
        }));
  m.def("k_dot", [](Arg<const float, Rank<1>, Contiguous> x,
                    Arg<const dovetail::bfloat16, Rank<1>, Contiguous> y) {
    return Sum(Row(x.data(), x.size()), Row(y.data(), y.size()),
               [](float a, float b) { return a * b; });
  });
  m.def("k_sum_bytes",
        [](Arg<const int8_t, Contiguous> x) { return Sum(Row(x.data(), x.size())); });
  m.def("k_named_batch", [](Arg<const float, Shape<"...batch", "cache_heads">> x) {
    return x.leading_shape().size();
  });
  m.def("k_hashed",
        [](Arg<const float, Shape<"cache_heads", "row_columns">> x) { return x.ndim(); });
  m.def("k_128", [](Arg<const float, Shape<"n">> x, Arg<const float, Shape<Times<128, "n">>> y) {
    return x.size() + y.size();
  });
  m.def("k_distinct", [](const std::vector<Arg<float, NoOverlap>>& all) { return all.size(); });
  using Many = Out<Real, Shape<"tokens_per_expert">>;
  m.def("k_many_results", Kernel([](Many, Many, Many, Many, Many, Many, Many, Many, Many, Many,
                                    Many, Many, Many, Many, Many, Many) {}));
  m.def("k_made_of_nothing", Kernel([](Out<float, Shape<"n">> y) { (void)y; }));
  m.def("k_list", [](const std::vector<Floats>& all) {
    float sum = 0;
    for (const Floats& x : all) sum += x(0);
    return sum;
  });
  m.def("k_optional_list", [](std::optional<std::vector<Floats>> all) {
    return all ? static_cast<int>(all->size()) : -1;
  });
  m.def("k_dict", [](const std::map<std::string, Floats>& all) {
    float sum = 0;
    for (const auto& [name, x] : all) sum += static_cast<float>(name.size()) * x(0);
    return sum;
  });
  m.def("k_reference", [](const Arg<const float, Contiguous>& x) { return x[0] + x.size(); });
  m.def("k_view", [](Arg<const void> x) { return x.template view<float, 2>()(0, 1); });
  m.def("k_sum",
        [](Arg<const OneOf<"T", float, dovetail::float16, dovetail::float8_e4m3fn>, Contiguous> x) {
          return Dispatch(x, [&]<class T>() {
            const auto v = x.template view<T>();
            return Sum(Row<const T>(v.data(), v.size())) + Max(Row<const T>(v.data(), v.size()));
          });
        });
  m.def("k_range", [](Arg<const float, Rank<3>, InnerContiguous> x) {
    float sum = 0, weight = 1;
    for (auto [row] : Rows(x)) sum += weight++ * row[0];
    return sum;
  });
  m.def("k_parallel", [](Arg<const float, Contiguous> x, int64_t grain) {
    std::atomic<int64_t> count{0};
    dovetail::ParallelFor(x.size(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (x[i] < 0) throw std::invalid_argument("negative");
      }
      count += end - begin;
    });
    return count.load();
  });
  m.def("k_empty_like", [](Arg<const float> x) { return dovetail::EmptyLike(x); });
  m.def("k_too_large", [](Arg<const float>) { return dovetail::Empty<float>({1LL << 50, 4096}); });
  m.def("k_pair", [](Floats x) {
    return std::make_pair(dovetail::EmptyLike(x), dovetail::Empty<int32_t>({2, 3}));
  });
}

}  // namespace dovetail_test

#endif  // DOVETAIL_PYTHON_TESTS_EXTENSION_KERNEL_FUNCTIONS_H_
