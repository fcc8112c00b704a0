// OneOf: an element type out of several, and Dispatch, which finds out which one it is.
//
//   using Real = dovetail::OneOf<"T", float, double>;
//   void Scale(Arg<const Real, Shape<"n">> x, double factor, Out<Real, Shape<"n">> y) {
//     Dispatch(x, [&]<class T>() {
//       auto in = x.view<T>();
//       auto out = y.view<T>();
//       for (int64_t i = 0; i < in.shape(0); ++i) out(i) = static_cast<T>(factor * in(i));
//     });
//   }
//
// All arguments of a call whose type has the same name ("T") have the same type. In C++17 the name
// is written Named("T"), and the function is a lambda with a parameter:
//   [&](auto type) { using T = typename decltype(type)::type; … }

#ifndef DOVETAIL_PYTHON_ARGS_ONE_OF_H_
#define DOVETAIL_PYTHON_ARGS_ONE_OF_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "dlpack/dlpack.h"
#include "dovetail/python/args/sizes.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {

#if __cplusplus >= 202002L
template <Size kName, typename... Ts>
struct OneOf {};
#else
template <int64_t kName, typename... Ts>
struct OneOf {};
#endif

// A type as a value.
template <typename T>
struct Type {
  using type = T;
};

namespace internal_arg {

template <typename... Ts>
struct Types {
  template <typename T>
  static constexpr bool kHas = (std::is_same_v<T, Ts> || ...);
};

template <typename T, typename F>
decltype(auto) CallWithType(F& f) {
  if constexpr (std::is_invocable_v<F&, Type<T>>) {
    return f(Type<T>());
  } else {
    return f.template operator()<T>();
  }
}

template <typename X, typename F, typename T, typename... More>
decltype(auto) DispatchAmong(const X& x, F& f, Types<T, More...>) {
  if constexpr (sizeof...(More) == 0) {
    return CallWithType<T>(f);  // the only one that is left
  } else {
    return x.template holds<T>() ? CallWithType<T>(f) : DispatchAmong(x, f, Types<More...>());
  }
}

}  // namespace internal_arg

// Calls f.operator()<T>() or f(Type<T>()) with the element type of `x`, an Arg of a OneOf.
template <typename X, typename F>
decltype(auto) Dispatch(const X& x, F&& f) {
  return internal_arg::DispatchAmong(x, f, typename X::Facts::Choices());
}

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARGS_ONE_OF_H_
