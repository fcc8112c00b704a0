// Rows: the last dimension of several tensors, row by row.
//
//   for (auto [in, out] : Rows(x, y)) out[0] = in[0];            // one after the other
//
//   Rows(x, y, [&]<class T>(Row<const T> in, Row<T> out) {       // on several threads
//     for (int64_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
//   });
//   Rows(x, y, [&](int64_t row, auto in, auto out) { ... });      // with the row's number
//
// The tensors have the same dimensions before the last one, such as the "..." of
// Shape<"...", "n">, with any strides; a row is dense, so that each is Contiguous or
// InnerContiguous. Those of a OneOf have one of its types in each call of the function: all of them
// the same name. With a second OneOf, Dispatch both, and take the rows of views:
// Rows(x.view<T>(), at.view<I>(), function). Borrows the tensors. C++20.

#ifndef DOVETAIL_PYTHON_ARGS_ROWS_H_
#define DOVETAIL_PYTHON_ARGS_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dovetail/python/arg.h"
#include "dovetail/python/args/arg_view.h"
#include "dovetail/python/args/one_of.h"
#include "dovetail/python/args/parallel_for.h"
#include "dovetail/python/args/sizes.h"

#if __cplusplus >= 202002L  // nothing in C++17

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {

// The elements of one row.
template <typename T>
class Row {
 public:
  Row(T* data, int64_t size) : data_(data), size_(size) {}
  // A row is read as one of const elements.
  template <typename U, typename = std::enable_if_t<std::is_same_v<const U, T>>>
  Row(const Row<U>& other)  // NOLINT(google-explicit-constructor)
      : data_(other.data()), size_(other.size()) {}

  T* data() const { return data_; }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) const { return data_[i]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

 private:
  T* data_;
  int64_t size_;
};

namespace internal_arg {

// Where the rows of one tensor are.
template <typename T>
struct RowsOf {
  T* data;
  int64_t row_size;
  int64_t strides[DOVETAIL_MAX_NDIM];  // of the leading dimensions
};

// The rows of tensors with the same leading dimensions, in row-major order.
template <typename... Ts>
class RowRange {
 public:
  RowRange(SizeSpan leading, const RowsOf<Ts>&... tensors)
      : ndim_(leading.size()), tensors_(tensors...) {
    for (int i = 0; i < ndim_; ++i) count_ *= leading_[i] = leading[i];
  }

  class Iterator {
   public:
    // At row number `at`.
    Iterator(const RowRange& range, int64_t at) : range_(range), at_(at) {
      for (int i = range.ndim_ - 1; i >= 0 && at > 0; --i) {
        indices_[i] = at % range.leading_[i];
        at /= range.leading_[i];
        Step(i, indices_[i]);
      }
    }
    std::tuple<Row<Ts>...> operator*() const { return Rows(std::index_sequence_for<Ts...>()); }
    Iterator& operator++() {
      ++at_;
      for (int i = range_.ndim_ - 1; i >= 0; --i) {
        if (++indices_[i] < range_.leading_[i]) {
          Step(i, 1);
          return *this;
        }
        Step(i, 1 - indices_[i]);
        indices_[i] = 0;
      }
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    void Step(int dimension, int64_t steps) {
      StepAll(dimension, steps, std::index_sequence_for<Ts...>());
    }
    template <size_t... kIndices>
    void StepAll(int dimension, int64_t steps, std::index_sequence<kIndices...>) {
      ((offsets_[kIndices] += steps * std::get<kIndices>(range_.tensors_).strides[dimension]), ...);
    }
    template <size_t... kIndices>
    std::tuple<Row<Ts>...> Rows(std::index_sequence<kIndices...>) const {
      return {Row<Ts>(std::get<kIndices>(range_.tensors_).data + offsets_[kIndices],
                      std::get<kIndices>(range_.tensors_).row_size)...};
    }

    const RowRange& range_;
    int64_t at_;
    int64_t indices_[DOVETAIL_MAX_NDIM] = {};
    int64_t offsets_[sizeof...(Ts)] = {};  // of the row, in elements
  };

  int64_t count() const { return count_; }
  Iterator begin() const { return Iterator(*this, 0); }
  Iterator end() const { return Iterator(*this, count_); }

 private:
  int ndim_;
  int64_t leading_[DOVETAIL_MAX_NDIM];
  std::tuple<RowsOf<Ts>...> tensors_;
  int64_t count_ = 1;
};

template <typename T, typename X>
RowsOf<T> MakeRowsOf(const X& x) {
  static_assert(X::kHasDenseRows,
                "Rows are dense: add InnerContiguous or Contiguous to the argument.");
  const int last = x.ndim() - 1;
  if (last < 0) RefuseView("Rows of a tensor without dimensions");
  RowsOf<T> rows;
  rows.data = static_cast<T*>(x.data());
  rows.row_size = x.shape(last);
  for (int i = 0; i < last; ++i) rows.strides[i] = x.stride(i);
  return rows;
}

template <typename X, typename... More>
SizeSpan LeadingOf(const X& first, const More&... more) {
  const int ndim = first.ndim() - 1;
  [[maybe_unused]] const auto agrees = [&](const auto& x) {
    bool is_equal = x.ndim() - 1 == ndim;
    for (int i = 0; is_equal && i < ndim; ++i) is_equal = x.shape(i) == first.shape(i);
    return is_equal;
  };
  if (!(agrees(more) && ...)) RefuseView("Rows of tensors with different leading dimensions");
  return SizeSpan(first.shape(), ndim);
}

// The element type of an Arg in a call for T, which is void where no argument has a OneOf.
template <typename X, typename T>
using ElementFor =
    std::conditional_t<std::is_void_v<typename X::element_type>,
                       std::conditional_t<std::is_const_v<typename X::element_type>, const T, T>,
                       typename X::element_type>;

template <typename T, typename... Xs>
auto MakeRowRange(const Xs&... xs) {
  return RowRange<ElementFor<Xs, T>...>(LeadingOf(xs...), MakeRowsOf<ElementFor<Xs, T>>(xs)...);
}

// About 32,000 elements for each part of the work.
inline int64_t RowsPerPart(int64_t row_size) {
  return row_size >= 32768 ? 1 : 32768 / (row_size > 0 ? row_size : 1);
}

// Calls f(rows…) or f(number, rows…).
template <typename F, typename... Ts>
void CallWithRows(F& f, int64_t number, const std::tuple<Row<Ts>...>& rows) {
  constexpr bool kTakesRows = std::is_invocable_v<F&, Row<Ts>...>;
  constexpr bool kTakesNumber = std::is_invocable_v<F&, int64_t, Row<Ts>...>;
  static_assert(kTakesRows || kTakesNumber,
                "The function of Rows takes a row of each tensor, Row<const T> of one that is "
                "read and Row<T> of one that is written, and may take the row's number first.");
  if constexpr (kTakesRows) {
    std::apply(f, rows);
  } else if constexpr (kTakesNumber) {
    std::apply(f, std::tuple_cat(std::make_tuple(number), rows));
  }
}

template <typename T, typename F, typename... Xs>
void ForEachRow(F& f, const Xs&... xs) {
  const auto range = MakeRowRange<T>(xs...);
  const int64_t row_size =
      std::get<0>(std::tie(xs...)).shape(std::get<0>(std::tie(xs...)).ndim() - 1);
  ParallelFor(range.count(), RowsPerPart(row_size), [&](int64_t begin, int64_t end) {
    typename std::remove_const_t<decltype(range)>::Iterator row(range, begin);
    for (int64_t i = begin; i < end; ++i, ++row) CallWithRows(f, i, *row);
  });
}

template <typename X>
constexpr bool kIsOneOf = std::is_void_v<typename X::element_type>;

// Whether it is none of a OneOf, or of the one with that name.
template <typename X, int64_t kName>
constexpr bool IsOf() {
  if constexpr (kIsOneOf<X>) {
    return X::Facts::All::kName == kName;
  } else {
    return true;
  }
}

// The first of the arguments that has a OneOf.
template <typename X, typename... More>
const auto& FirstOneOf(const X& x, const More&... more) {
  if constexpr (kIsOneOf<X> || sizeof...(More) == 0) {
    return x;
  } else {
    return FirstOneOf(more...);
  }
}

template <typename X, typename F, typename... Xs>
void DispatchRows(const X& typed, F& f, const Xs&... xs) {
  static_assert((IsOf<Xs, X::Facts::All::kName>() && ...),
                "The OneOfs of Rows have one name. With two, Dispatch both, and take the rows of "
                "x.view<T>() and y.view<U>().");
  Dispatch(typed, [&]<typename T>() { ForEachRow<T>(f, xs...); });
}

template <typename Tuple, size_t... kIndices>
void RowsWithFunction(const Tuple& all, std::index_sequence<kIndices...>) {
  auto& f = std::get<sizeof...(kIndices)>(all);
  const auto& typed = FirstOneOf(std::get<kIndices>(all)...);
  if constexpr (kIsOneOf<std::decay_t<decltype(typed)>>) {
    DispatchRows(typed, f, std::get<kIndices>(all)...);
  } else {
    ForEachRow<void>(f, std::get<kIndices>(all)...);
  }
}

// An Arg or a View.
template <typename X>
concept IsTensor = requires { X::kHasDenseRows; };

}  // namespace internal_arg

// A range of tuples of rows.
template <typename... Xs>
  requires(internal_arg::IsTensor<Xs> && ...)
auto Rows(const Xs&... tensors) {
  static_assert(
      !(internal_arg::kIsOneOf<Xs> || ...),
      "The type of a OneOf is known in a function, Rows(x, y, [&]<class T>(…) { … }), and "
      "in a Dispatch, RowsAs<T>(x, y).");
  return internal_arg::MakeRowRange<void>(tensors...);
}

// The same for a OneOf, in a Dispatch: RowsAs<T>(x, y).
template <typename T, typename... Xs>
auto RowsAs(const Xs&... tensors) {
  const auto fits = [](const auto& x) {
    if constexpr (internal_arg::kIsOneOf<std::decay_t<decltype(x)>>) {
      return x.template holds<T>();
    } else {
      return true;
    }
  };
  if (!(fits(tensors) && ...)) {
    internal_arg::RefuseView("RowsAs<T>() of a tensor of another type");
  }
  return internal_arg::MakeRowRange<T>(tensors...);
}

// Rows(x, y, …, function): calls function(row of x, row of y, …) for each row, in any order, on the
// threads of ParallelFor(), which says what holds for the GIL and for exceptions.
template <typename... All>
  requires(!(internal_arg::IsTensor<std::decay_t<All>> && ...))
void Rows(All&&... tensors_and_function) {
  internal_arg::RowsWithFunction(std::tie(tensors_and_function...),
                                 std::make_index_sequence<sizeof...(All) - 1>());
}

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // C++20

#endif  // DOVETAIL_PYTHON_ARGS_ROWS_H_
