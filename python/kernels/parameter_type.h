// The C++ types that a kernel's parameters may have: what each is in the C interface
// (kernel_abi.h), and how the argument becomes a value.

#ifndef DOVETAIL_PYTHON_KERNELS_PARAMETER_TYPE_H_
#define DOVETAIL_PYTHON_KERNELS_PARAMETER_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dovetail/python/arg.h"
#include "dovetail/python/args/out.h"
#include "dovetail/python/args/size_arg.h"
#include "dovetail/python/casters/signature.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/kernel_stream.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

using ::dovetail::internal_arg::Text;

// What all types have, of a required argument that is no tensor.
struct AnyType {
  static constexpr uint32_t kFlags = 0;
  static constexpr const DovetailRequirements* kWanted = nullptr;
  static constexpr const char* kText = nullptr;
  static constexpr int64_t kLeast = 0, kMost = 0;
  static constexpr int64_t kSizeName = 0;
  static constexpr const char* kSizeText = "";
};

template <typename V, typename = void>
struct ParameterType {
  static_assert(std::is_void_v<V>,
                "A kernel's parameter is an Arg, Out or InOut, a std::vector<Arg>, a number, a "
                "bool, a std::string, a std::vector of double or int64_t, a SizeArg, a Stream, or "
                "a std::optional of these.");
};

template <typename V, uint32_t kTheFlags>
struct TensorType : AnyType {
  using Facts = typename V::Facts;
  static constexpr int32_t kKind = DOVETAIL_KIND_TENSOR;
  static constexpr uint32_t kFlags =
      kTheFlags | (Facts::kNoOverlap ? DOVETAIL_PARAMETER_NO_OVERLAP : 0);
  static constexpr const DovetailRequirements* kWanted = &Facts::kRequirements;
  static constexpr const char* kText = internal_arg::Signature<Facts>::kText.letters;
  static V From(const DovetailArgument& argument) { return V(*argument.value.tensor); }
};
template <typename T, typename... Rules>
struct ParameterType<Arg<T, Rules...>> : TensorType<Arg<T, Rules...>, 0> {
  static_assert(std::is_const_v<typename Arg<T, Rules...>::element_type>,
                "A kernel says what it writes: the type is const, or the parameter is an Out or an "
                "InOut.");
};
template <typename T, typename... Rules>
struct ParameterType<Out<T, Rules...>> : TensorType<Out<T, Rules...>, DOVETAIL_PARAMETER_OUT> {};
template <typename T, typename... Rules>
struct ParameterType<InOut<T, Rules...>>
    : TensorType<InOut<T, Rules...>, DOVETAIL_PARAMETER_INOUT> {};

template <typename T, typename... Rules>
struct ParameterType<std::vector<Arg<T, Rules...>>> : ParameterType<Arg<T, Rules...>> {
  static constexpr uint32_t kFlags =
      ParameterType<Arg<T, Rules...>>::kFlags | DOVETAIL_PARAMETER_LIST;
  static std::vector<Arg<T, Rules...>> From(const DovetailArgument& argument) {
    std::vector<Arg<T, Rules...>> all;
    all.reserve(static_cast<size_t>(argument.count));
    for (int64_t i = 0; i < argument.count; ++i) all.emplace_back(*argument.value.tensors[i]);
    return all;
  }
};

template <typename V>
struct ParameterType<V, std::enable_if_t<std::is_floating_point_v<V>>> : AnyType {
  static constexpr int32_t kKind = DOVETAIL_KIND_FLOAT;
  static V From(const DovetailArgument& argument) { return static_cast<V>(argument.value.number); }
};
template <typename V>
struct ParameterType<V, std::enable_if_t<std::is_integral_v<V> && !std::is_same_v<V, bool>>>
    : AnyType {
  static constexpr int32_t kKind = DOVETAIL_KIND_INT;
  static constexpr int64_t kLeast =
      std::is_signed_v<V> ? static_cast<int64_t>(std::numeric_limits<V>::min()) : 0;
  static constexpr int64_t kMost = sizeof(V) < sizeof(int64_t)
                                       ? static_cast<int64_t>(std::numeric_limits<V>::max())
                                       : std::numeric_limits<int64_t>::max();
  static V From(const DovetailArgument& argument) { return static_cast<V>(argument.value.integer); }
};
template <>
struct ParameterType<bool> : AnyType {
  static constexpr int32_t kKind = DOVETAIL_KIND_BOOL;
  static bool From(const DovetailArgument& argument) { return argument.value.integer != 0; }
};

template <typename V>
struct StringType : AnyType {
  static constexpr int32_t kKind = DOVETAIL_KIND_STRING;
  static V From(const DovetailArgument& argument) {
    return V(argument.value.text, static_cast<size_t>(argument.count));
  }
};
template <>
struct ParameterType<std::string> : StringType<std::string> {};
template <>
struct ParameterType<std::string_view> : StringType<std::string_view> {};

template <>
struct ParameterType<std::vector<double>> : ParameterType<double> {
  static constexpr uint32_t kFlags = DOVETAIL_PARAMETER_LIST;
  static std::vector<double> From(const DovetailArgument& argument) {
    return {argument.value.numbers, argument.value.numbers + argument.count};
  }
};
template <>
struct ParameterType<std::vector<int64_t>> : ParameterType<int64_t> {
  static constexpr uint32_t kFlags = DOVETAIL_PARAMETER_LIST;
  static std::vector<int64_t> From(const DovetailArgument& argument) {
    return {argument.value.integers, argument.value.integers + argument.count};
  }
};

#if __cplusplus >= 202002L
template <Size kName>
struct ParameterType<SizeArg<kName>> : AnyType {
  static constexpr Text Letters() {
    Text text;
    text.PutSize(kName.value, internal_arg::LongName<kName>::kText.letters);
    return text;
  }
  static constexpr Text kLetters = Letters();

  static constexpr int32_t kKind = DOVETAIL_KIND_INT;
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kSizeName = kName.value;
  static constexpr const char* kSizeText = kLetters.letters;
  static SizeArg<kName> From(const DovetailArgument& argument) {
    return SizeArg<kName>(argument.value.integer);
  }
};
#endif

template <>
struct ParameterType<Stream> : AnyType {
  static constexpr int32_t kKind = DOVETAIL_KIND_STREAM;
  static Stream From(const DovetailArgument& argument) { return Stream(argument.value.stream); }
};

template <typename V>
struct ParameterType<std::optional<V>> : ParameterType<V> {
  static_assert((ParameterType<V>::kFlags & (DOVETAIL_PARAMETER_OUT | DOVETAIL_PARAMETER_INOUT)) ==
                        0 &&
                    ParameterType<V>::kKind != DOVETAIL_KIND_STREAM,
                "An Out may be None as it is; an InOut and a Stream are always there.");
  static constexpr uint32_t kFlags = ParameterType<V>::kFlags | DOVETAIL_PARAMETER_OPTIONAL;
  static std::optional<V> From(const DovetailArgument& argument) {
    if (!argument.is_there) return std::nullopt;
    return ParameterType<V>::From(argument);
  }
};

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_PARAMETER_TYPE_H_
