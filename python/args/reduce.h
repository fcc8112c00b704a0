// Sum, Max and Transform: arithmetic on rows of any element type, by SIMD instructions.
//
//   Rows(x, y, [&]<class T>(Row<const T> in, Row<T> out) {
//     const float squares = Sum(in, [](float v) { return v * v; });
//     Transform(in, out, [&](float v) { return v / std::sqrt(squares); });
//   });
//
// Functions get and return float for the narrow floats of core/freestanding/narrow_floats.h, and
// other types as they are. Elements are converted and computed in blocks, whose loops compilers
// vectorise at -O2 already. The functions have no side effects: they may be called in any order.
// C++20.

#ifndef DOVETAIL_PYTHON_ARGS_REDUCE_H_
#define DOVETAIL_PYTHON_ARGS_REDUCE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dovetail/core/freestanding/narrow_floats.h"
#include "dovetail/python/args/rows.h"
#include "dovetail/python/args/sizes.h"

#if __cplusplus >= 202002L  // nothing in C++17

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

template <typename T>
constexpr bool kIsNarrow = false;
template <internal_dtype::TypeCode kCode, int kBits>
constexpr bool kIsNarrow<NarrowFloat<kCode, kBits>> = true;

// The type in which elements are computed.
template <typename T>
using ComputedAs =
    std::conditional_t<kIsNarrow<std::remove_const_t<T>>, float, std::remove_const_t<T>>;

template <typename R>
using SummedAs = std::conditional_t<std::is_integral_v<std::decay_t<R>>, int64_t, std::decay_t<R>>;

constexpr int64_t kBlock = 64;  // elements
constexpr int kLanes = 16;      // sums, and other results, that are in progress

// One block of a row, converted.
template <typename T>
class Block {
 public:
  [[gnu::always_inline]] const ComputedAs<T>* Load(const T* from) {
    if constexpr (kIsNarrow<std::remove_const_t<T>>) {
      Widen(from, kBlock, converted_);
      return converted_;
    } else {
      return from;
    }
  }

 private:
  ComputedAs<T> converted_[kIsNarrow<std::remove_const_t<T>> ? kBlock : 1];
};

template <typename C, typename T>
[[gnu::always_inline]] inline void Store(const C* from, T* to) {
  if constexpr (kIsNarrow<T>) {
    Narrow(from, kBlock, to);
  } else {
    for (int64_t i = 0; i < kBlock; ++i) to[i] = from[i];
  }
}

template <typename F, typename T, typename... Ts, size_t... kIndices>
[[gnu::always_inline]] inline void TransformRows(F& f, Row<T> out, const std::tuple<Row<Ts>...>& in,
                                                 std::index_sequence<kIndices...>) {
  std::tuple<Block<Ts>...> blocks;
  int64_t i = 0;
  for (; i + kBlock <= out.size(); i += kBlock) {
    const std::tuple<const ComputedAs<Ts>*...> loaded(
        std::get<kIndices>(blocks).Load(std::get<kIndices>(in).data() + i)...);
    ComputedAs<T> results[kBlock];
    for (int64_t j = 0; j < kBlock; ++j) {
      results[j] = static_cast<ComputedAs<T>>(f(std::get<kIndices>(loaded)[j]...));
    }
    Store(results, out.data() + i);
  }
  for (; i < out.size(); ++i) {
    const ComputedAs<T> result =
        static_cast<ComputedAs<T>>(f(static_cast<ComputedAs<Ts>>(std::get<kIndices>(in)[i])...));
    out[i] = static_cast<T>(result);
  }
}

template <typename... All, size_t... kIndices>
void TransformAll(const std::tuple<All...>& all, std::index_sequence<kIndices...>) {
  const auto& out = std::get<sizeof...(All) - 2>(all);
  if (((std::get<kIndices>(all).size() != out.size()) || ...)) {
    RefuseView("Transform() of rows of different sizes");
  }
  auto& f = std::get<sizeof...(All) - 1>(all);
  TransformRows(f, out, std::make_tuple(std::get<kIndices>(all)...),
                std::index_sequence<kIndices...>());
}

}  // namespace internal_arg

namespace internal_arg {

template <typename R, typename F, typename Combine, typename... Ts, size_t... kIndices>
R ReduceRows(R initial, F& f, Combine& combine, const std::tuple<Row<Ts>...>& rows,
             std::index_sequence<kIndices...>) {
  const int64_t size = std::get<0>(rows).size();
  if (((std::get<kIndices>(rows).size() != size) || ...)) {
    RefuseView("Reduce() of rows of different sizes");
  }
  R results[kLanes];
  for (R& result : results) result = initial;
  std::tuple<Block<std::remove_const_t<Ts>>...> blocks;
  int64_t i = 0;
  for (; i + kBlock <= size; i += kBlock) {
    const std::tuple<const ComputedAs<Ts>*...> loaded(
        std::get<kIndices>(blocks).Load(std::get<kIndices>(rows).data() + i)...);
    R values[kBlock];
    for (int64_t j = 0; j < kBlock; ++j) {
      values[j] = static_cast<R>(f(std::get<kIndices>(loaded)[j]...));
    }
    for (int64_t j = 0; j < kBlock; j += kLanes) {
      for (int k = 0; k < kLanes; ++k) results[k] = combine(results[k], values[j + k]);
    }
  }
  for (; i < size; ++i) {
    const R value = static_cast<R>(f(static_cast<ComputedAs<Ts>>(std::get<kIndices>(rows)[i])...));
    results[0] = combine(results[0], value);
  }
  for (int k = 1; k < kLanes; ++k) results[0] = combine(results[0], results[k]);
  return results[0];
}

}  // namespace internal_arg

// combine(…combine(combine(initial, f(row[0])), f(row[1]))…), in any order: `combine` is
// associative and commutative, and combine(initial, x) is x.
template <typename T, typename R, typename F, typename Combine>
R Reduce(Row<T> row, R initial, F f, Combine combine) {
  return internal_arg::ReduceRows(initial, f, combine, std::make_tuple(row),
                                  std::index_sequence<0>());
}

struct Identity {
  template <typename T>
  T operator()(T x) const {
    return x;
  }
};

// The sum of f(x) over the row; 0 for an empty one. Integers are summed as int64_t.
template <typename T, typename F = Identity>
auto Sum(Row<T> row, F f = F()) {
  using R = internal_arg::SummedAs<decltype(f(std::declval<internal_arg::ComputedAs<T>>()))>;
  return Reduce(row, R{}, f, [](R a, R b) { return a + b; });
}

// The sum of f(x, y) over two rows. Throws std::invalid_argument for rows of different sizes.
template <typename T, typename U, typename F>
auto Sum(Row<T> x, Row<U> y, F f) {
  using R = internal_arg::SummedAs<decltype(f(std::declval<internal_arg::ComputedAs<T>>(),
                                              std::declval<internal_arg::ComputedAs<U>>()))>;
  const auto add = [](R a, R b) { return a + b; };
  return internal_arg::ReduceRows(R{}, f, add, std::make_tuple(x, y), std::index_sequence<0, 1>());
}

// The largest f(x), never a NaN where another is there; the lowest number, such as
// -infinity, for a row without elements or of NaN.
template <typename T, typename F = Identity>
auto Max(Row<T> row, F f = F()) {
  using R = std::decay_t<decltype(f(std::declval<internal_arg::ComputedAs<T>>()))>;
  constexpr R kLowest = std::numeric_limits<R>::has_infinity ? -std::numeric_limits<R>::infinity()
                                                             : std::numeric_limits<R>::lowest();
  return Reduce(row, kLowest, f, [](R a, R b) { return b > a ? b : a; });
}

// Transform(x, y, …, out, f): out[i] = f(x[i], y[i], …). `out` may be one of the others. Throws
// std::invalid_argument for rows of different sizes.
template <typename... All>
void Transform(const All&... rows_out_and_function) {
  static_assert(sizeof...(All) >= 3, "Transform(in, out, f)");
  internal_arg::TransformAll(std::tie(rows_out_and_function...),
                             std::make_index_sequence<sizeof...(All) - 2>());
}

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // C++20

#endif  // DOVETAIL_PYTHON_ARGS_REDUCE_H_
