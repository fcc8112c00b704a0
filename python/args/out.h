// Out and InOut: the tensors that a function writes, as its results.
//
//   void Add(Arg<const float, Shape<"n">> x, Arg<const float, Shape<"n">> y,
//            Out<float, Shape<"n">> out);
//
//   m.def("add", dovetail::Kernel(&Add), "x"_a, "y"_a, "out"_a = nb::none());     // or py::none()
//
// An Out is an Arg whose sizes follow from those of the other arguments. Where the caller gives
// None, the binding makes the tensor, of the library of the call's first tensor. An InOut is
// written in place, except for libraries whose arrays never change (JAX), where the function gets a
// copy. A Kernel returns its Outs and InOuts: the caller's own tensors, or the new ones; a tuple if
// there are several. C++17.

#ifndef DOVETAIL_PYTHON_ARGS_OUT_H_
#define DOVETAIL_PYTHON_ARGS_OUT_H_

#include <cstddef>
#include <type_traits>
#include <utility>

#include "dovetail/python/arg.h"
#include "dovetail/python/arg_requirements.h"
#include "dovetail/python/borrowed.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// Whether a tensor of these requirements can be made: each of its sizes is said.
template <typename Facts>
constexpr bool SaysItsSizes() {
  if (!Facts::Sizes::kIsThere) return Facts::kNamedRank == 0 && !Facts::kHasLead;
  for (int i = 0; i < Facts::kNamedRank; ++i) {
    if (Facts::Sizes::kArray[i] == DOVETAIL_ANY_SIZE) return false;
  }
  return true;
}

}  // namespace internal_arg

template <typename T, typename... Rules>
class Out : public Arg<T, Rules...> {
 public:
  using typename Arg<T, Rules...>::Facts;
  static_assert(!Facts::kIsConst, "A function writes an Out: its type is not const.");
  static_assert(internal_arg::SaysItsSizes<Facts>(),
                "An Out names each of its sizes, as in Shape<\"n\", 3>.");
  static_assert((Facts::kAll.flags & DOVETAIL_F_CONTIGUOUS) == 0 || Facts::kRank == 1,
                "An Out that is made is row-major.");
  using Arg<T, Rules...>::Arg;
};

template <typename T, typename... Rules>
class InOut : public Arg<T, Rules..., internal_arg::CopyImmutable> {
 public:
  static_assert(!Arg<T, Rules...>::Facts::kIsConst, "A function writes an InOut.");
  using Arg<T, Rules..., internal_arg::CopyImmutable>::Arg;
};

namespace internal_arg {

template <typename V>
constexpr bool kIsResult = false;
template <typename T, typename... Rules>
constexpr bool kIsResult<Out<T, Rules...>> = true;
template <typename T, typename... Rules>
constexpr bool kIsResult<InOut<T, Rules...>> = true;

template <typename V>
constexpr bool kIsResultArgument = kIsResult<std::remove_cv_t<std::remove_reference_t<V>>>;

// What a Kernel's call operator takes for an Out or an InOut. Casters take this, not those: a
// function that is bound without Kernel() would lose its results.
template <typename V>
class Given : public V {
 public:
  using V::V;
};
template <typename V>
using ParameterOf = std::conditional_t<kIsResultArgument<V>,
                                       Given<std::remove_cv_t<std::remove_reference_t<V>>>, V>;

// The tensors that a call wrote, which are in the call's casters: one for each of its Outs and
// InOuts, which are `Values`.
template <typename... Values>
struct Results {
  const DovetailBorrowed* all[sizeof...(Values)];
};

// Results of the Outs and InOuts among the parameters `Args`.
template <typename Found, typename... Args>
struct ResultsAmong {
  using Type = Found;
};
template <typename... Found, typename V, typename... More>
struct ResultsAmong<Results<Found...>, V, More...>
    : ResultsAmong<
          std::conditional_t<kIsResultArgument<V>,
                             Results<Found..., std::remove_cv_t<std::remove_reference_t<V>>>,
                             Results<Found...>>,
          More...> {};

template <typename V>
constexpr bool kIsGiven = false;
template <typename V>
constexpr bool kIsGiven<Given<V>> = true;

template <typename F, typename... Args>
struct KernelOf {
  static constexpr size_t kResults = (size_t{0} + ... + (kIsResultArgument<Args> ? 1 : 0));
  static_assert(kResults > 0, "A Kernel has an Out or an InOut. Bind other functions themselves.");

  using AllResults = typename ResultsAmong<Results<>, Args...>::Type;

  AllResults operator()(ParameterOf<Args>... arguments) const {
    function(std::forward<Args>(arguments)...);
    AllResults results{};
    size_t count = 0;
    (Add(arguments, &results, &count), ...);
    return results;
  }
  // (A result is trivially copied: the function left it.)
  template <typename V>
  static void Add(const V& argument, AllResults* results, size_t* count) {
    if constexpr (kIsGiven<V>) results->all[(*count)++] = &argument.borrowed();
  }

  F function;
};

template <typename F, typename... Args>
KernelOf<F, Args...> MakeKernel(F function, void (*)(Args...)) {
  return {std::move(function)};
}
template <typename F, typename C, typename... Args>
KernelOf<F, Args...> MakeKernel(F function, void (C::*)(Args...) const) {
  return {std::move(function)};
}

template <typename F>
constexpr bool kReturnsNothing = false;
template <typename... Args>
constexpr bool kReturnsNothing<void (*)(Args...)> = true;
template <typename C, typename... Args>
constexpr bool kReturnsNothing<void (C::*)(Args...) const> = true;

template <typename F, typename = void>
constexpr bool kHasOneCall = false;
template <typename F>
constexpr bool kHasOneCall<F, std::void_t<decltype(&F::operator())>> = true;

template <typename F>
constexpr bool IsKernel() {
  if constexpr (std::is_pointer_v<F>) {
    return kReturnsNothing<F>;
  } else if constexpr (kHasOneCall<F>) {
    return kReturnsNothing<decltype(&F::operator())>;
  } else {
    return false;
  }
}

}  // namespace internal_arg

// A function, or a lambda without template parameters, that returns nothing. To be bound.
template <typename F>
auto Kernel(F function) {
  static_assert(internal_arg::IsKernel<F>(),
                "A Kernel is a function, or a lambda without `auto` parameters, that returns "
                "nothing: its results are its Out and InOut arguments.");
  if constexpr (std::is_pointer_v<F>) {
    return internal_arg::MakeKernel(function, function);
  } else {
    return internal_arg::MakeKernel(std::move(function), &F::operator());
  }
}

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARGS_OUT_H_
