// DOVETAIL_KERNEL: exports a C++ function from a kernel library.
//
//   DOVETAIL_KERNEL(rms_norm, "x", "weight", "eps=1e-6", "*", "out");
//
// At namespace scope, in any file of the library: the function, then the name of each parameter
// but of Streams, with its default as Python writes it. After "*" parameters are given by name. An
// Out needs no default: callers may leave it out. DOVETAIL_KERNEL_DOC has a docstring behind the
// function, DOVETAIL_KERNEL_AS a name in Python before it and a docstring behind it:
//
//   DOVETAIL_KERNEL_AS("rms_norm", RmsNorm, "Root mean square layer norm.", "x", "weight", "out");
//
// dovetail/kernels.h is the header to include.

#ifndef DOVETAIL_PYTHON_KERNELS_KERNEL_H_
#define DOVETAIL_PYTHON_KERNELS_KERNEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/host.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/kernel_facts.h"
#include "dovetail/python/kernels/parameter_text.h"
#include "dovetail/python/kernels/parameter_type.h"
#include "dovetail/python/kernels/tvm_call.h"
#include "dovetail/python/kernels/tvm_ffi.h"
#include "dovetail/python/kernels/tvm_plain.h"
#include "dovetail/python/kernels/xla_ffi.h"
#include "dovetail/python/kernels/xla_plain.h"
#include "dovetail/python/owned_tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// The kernels of this shared object, which their static initialisers add.
inline DovetailKernelLibrary library = {sizeof(DovetailKernelLibrary), DOVETAIL_KERNELS_MAJOR,
                                        DOVETAIL_KERNELS_MINOR, nullptr,
                                        [](const DovetailKernelHost* given) { host = given; }};

// The tensors that a function returns.
template <typename R>
struct ReturnType {
  static_assert(std::is_void_v<R>,
                "A kernel returns nothing, an OwnedTensor, or a std::tuple, std::pair or "
                "std::array of these.");
  static constexpr int32_t kCount = 0;
  static constexpr bool kIsTuple = false;
};
template <>
struct ReturnType<OwnedTensor> {
  static constexpr int32_t kCount = 1;
  static constexpr bool kIsTuple = false;
  static void Give(OwnedTensor tensor, DLManagedTensorVersioned** results) {
    results[0] = tensor.release();
  }
};
template <typename R, int kTheCount>
struct TupleType {
  static constexpr int32_t kCount = kTheCount;
  static constexpr bool kIsTuple = true;
  static void Give(R tensors, DLManagedTensorVersioned** results) {
    std::apply([&](auto&... each) { ((*results++ = each.release()), ...); }, tensors);
  }
};
template <typename... Ts>
struct ReturnType<std::tuple<Ts...>> : TupleType<std::tuple<Ts...>, sizeof...(Ts)> {
  static_assert((std::is_same_v<Ts, OwnedTensor> && ...), "Each result is an OwnedTensor.");
};
template <typename T, typename U>
struct ReturnType<std::pair<T, U>> : TupleType<std::pair<T, U>, 2> {
  static_assert(std::is_same_v<T, OwnedTensor> && std::is_same_v<U, OwnedTensor>,
                "Each result is an OwnedTensor.");
};
template <size_t kCount>
struct ReturnType<std::array<OwnedTensor, kCount>>
    : TupleType<std::array<OwnedTensor, kCount>, static_cast<int>(kCount)> {};

// What DOVETAIL_KERNEL says: each string, and where the names are.
template <typename Def>
struct Texts {
  static constexpr size_t kCount = std::size(Def::kTexts) - 1;  // the last one is a nullptr

  static constexpr std::array<ParameterText, kCount> Parse() {
    std::array<ParameterText, kCount> all;
    for (size_t i = 0; i < kCount; ++i) all[i] = ParameterText(Def::kTexts[i]);
    return all;
  }
  static constexpr std::array<ParameterText, kCount> kAll = Parse();

  static constexpr bool AreValid() {
    for (const ParameterText& text : kAll) {
      if (!text.is_valid) return false;
    }
    return true;
  }
  static constexpr size_t CountNames() {
    size_t count = 0;
    for (const ParameterText& text : kAll) count += text.is_star ? 0 : 1;
    return count;
  }
  static constexpr bool AreDistinct() {
    for (size_t i = 0; i < kCount; ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (AreEqual(kAll[i].name, kAll[k].name)) return false;
      }
    }
    return true;
  }
  // The string of the parameter of that number; kCount if there is none.
  static constexpr size_t Find(size_t number) {
    for (size_t i = 0; i < kCount; ++i) {
      if (!kAll[i].is_star && number-- == 0) return i;
    }
    return kCount;
  }
  static constexpr bool IsAfterStar(size_t at) {
    for (size_t i = 0; i < at; ++i) {
      if (kAll[i].is_star) return true;
    }
    return false;
  }
};

constexpr bool IsUnqualified(const char* name) {
  while (*name != '\0' && *name != ':') ++name;
  return *name == '\0';
}

template <typename V>
using Plain = std::remove_cv_t<std::remove_reference_t<V>>;

// One parameter. `kNumber` counts those that have a name.
template <typename Def, typename V, size_t kNumber>
struct Parameter {
  static_assert(!std::is_lvalue_reference_v<V> || std::is_const_v<std::remove_reference_t<V>>,
                "A kernel takes its arguments by value or by const reference.");
  using Type = ParameterType<Plain<V>>;
  static constexpr bool kHasName = Type::kKind != DOVETAIL_KIND_STREAM;
  static constexpr size_t kAt = kHasName ? Texts<Def>::Find(kNumber) : Texts<Def>::kCount;
  static constexpr bool kIsNamed = kAt < Texts<Def>::kCount;
  static constexpr ParameterText kText =
      kIsNamed ? Texts<Def>::kAll[kIsNamed ? kAt : 0] : ParameterText("stream");
  static_assert(kText.default_text == nullptr ||
                    IsDefaultOf(kText.default_text, Type::kKind, Type::kFlags),
                "The parameter's type has no such default: 1e-6, 3, True, 'sum', None of a "
                "std::optional.");

  static constexpr DovetailParameter kValue = {
      sizeof(DovetailParameter),
      kText.name,
      Type::kKind,
      Type::kFlags |
          (kIsNamed && Texts<Def>::IsAfterStar(kAt) ? uint32_t{DOVETAIL_PARAMETER_KEYWORD_ONLY}
                                                    : 0),
      kText.default_text,
      Type::kText,
      Type::kWanted,
      Type::kLeast,
      Type::kMost,
      Type::kSizeName,
      Type::kSizeText};
};

// Whether no parameter that is given by position, and has no default, follows one that has: as
// Python wants it. An Out at the end needs no default.
template <typename... Parameters>
constexpr bool DefaultsComeLast() {
  bool has_default = false, is_in_order = true;
  const auto look = [&](const DovetailParameter& one) {
    if (one.kind == DOVETAIL_KIND_STREAM || (one.flags & DOVETAIL_PARAMETER_KEYWORD_ONLY) != 0)
      return;
    if ((one.flags & DOVETAIL_PARAMETER_OUT) != 0 && one.default_text == nullptr) return;
    is_in_order = is_in_order && (one.default_text != nullptr || !has_default);
    has_default = has_default || one.default_text != nullptr;
  };
  (look(Parameters::kValue), ...);
  return is_in_order;
}

// How many of the first `count` types have names.
template <typename... Args>
constexpr size_t CountNamed(size_t count) {
  size_t named = 0, i = 0;
  ((named += i++ < count && ParameterType<Plain<Args>>::kKind != DOVETAIL_KIND_STREAM ? 1 : 0),
   ...);
  return named;
}

template <typename Def, typename Function, typename Indices>
struct Entry;
template <typename Def, typename R, typename... Args, size_t... kIndices>
struct Entry<Def, R(Args...), std::index_sequence<kIndices...>> {
  using Names = Texts<Def>;
  static_assert(Names::AreValid(),
                "Write the name of a parameter, and its default as in Python: \"x\", \"eps=1e-6\", "
                "\"mode='sum'\", or \"*\".");
  static_assert(IsUnqualified(Def::kName),
                "Within the namespace write DOVETAIL_KERNEL(f, …), and outside of it "
                "DOVETAIL_KERNEL_AS(\"f\", ns::f, \"docstring\", …).");
  static_assert(!IsUnqualified(Def::kName) ||
                    (ParameterText(Def::kName).is_valid && !ParameterText(Def::kName).is_star &&
                     ParameterText(Def::kName).default_text == nullptr),
                "The kernel's name is none of Python's.");
  static_assert(Names::AreDistinct(), "Two parameters have one name.");
  static_assert(Names::CountNames() == CountNamed<Args...>(sizeof...(Args)),
                "One name for each parameter but the Streams.");
  static_assert(sizeof...(Args) > 0, "A kernel has parameters.");

  static_assert(
      DefaultsComeLast<Parameter<Def, Args, CountNamed<Args...>(kIndices)>...>(),
      "A parameter without a default follows one that has a default. Give it one, or write \"*\".");
  static constexpr const DovetailParameter* kParameters[] = {
      &Parameter<Def, Args, CountNamed<Args...>(kIndices)>::kValue...};

  // Whether the fast roads of tvm-ffi and XLA know all that it takes.
  static constexpr bool kIsPlain =
      std::is_void_v<R> && (IsPlainType<ParameterType<Plain<Args>>>() && ...);

  static R Call(const DovetailArgument* arguments) {
    return Def::kFunction(ParameterType<Plain<Args>>::From(arguments[kIndices])...);
  }
  static int Invoke(const DovetailArgument* arguments, DLManagedTensorVersioned** results,
                    DovetailFailure* failure) {
    try {
      if constexpr (std::is_void_v<R>) {
        (void)results;
        Call(arguments);
      } else {
        ReturnType<R>::Give(Call(arguments), results);
      }
      return 0;
    } catch (...) {
      Report(failure);
      return -1;
    }
  }
  static void TorchKernel(uint64_t* stack, uint64_t num_arguments, uint64_t num_results) {
    host->torch_kernel(&kernel, stack, num_arguments, num_results);
  }

  static constexpr XlaPlace kPlaces[] = {PlaceInXla(kParameters, sizeof...(Args), kIndices)...};
  template <int32_t kDeviceType>
  static void* XlaKernel(void* call_frame) {
    if constexpr (kDeviceType == kDLCPU && kIsPlain) {
      constexpr XlaCounts kCounts = CountXla(kParameters, sizeof...(Args));
      const auto& frame = *static_cast<const XlaCallFrame*>(call_frame);
      DovetailCall call;
      call.num_sizes = call.num_types = call.num_leads = 0;
      DovetailBorrowed tensors[sizeof...(Args)];
      DovetailArgument arguments[sizeof...(Args)];
      if (frame.extension == nullptr && frame.arguments.size == kCounts.arguments &&
          frame.results.size == kCounts.results && frame.attributes.size == kCounts.attributes &&
          (TakePlain<ParameterType<Plain<Args>>>(frame, kPlaces[kIndices],
                                                 kParameters[kIndices]->name, int32_t{kIndices} + 1,
                                                 &call, &tensors[kIndices], &arguments[kIndices]) &&
           ...)) {
        KernelFailure failure;
        if (Invoke(arguments, nullptr, &failure) == 0) return nullptr;
        SayKernel(kernel, &failure);
        return XlaErrorOf(frame, failure);
      }
    }
    return host->xla_kernel(&kernel, call_frame, kDeviceType);
  }

  // The kernel as tvm-ffi calls it (TVMFFISafeCallType).
  static int CallByTvm(const TvmAny* given, int32_t count, TvmAny* result) {
    if constexpr (kIsPlain) {
      DovetailCall call;
      call.num_sizes = call.num_types = call.num_leads = 0;
      DovetailBorrowed tensors[sizeof...(Args)];
      DovetailArgument arguments[sizeof...(Args)];
      if (count == static_cast<int32_t>(sizeof...(Args)) &&
          (TakePlain<ParameterType<Plain<Args>>>(given[kIndices], int32_t{kIndices} + 1, &call,
                                                 &tensors[kIndices], &arguments[kIndices]) &&
           ...)) {
        KernelFailure failure;
        *result = {kTvmNone, 0, {}};
        if (Invoke(arguments, nullptr, &failure) == 0) return 0;
        SayKernel(kernel, &failure);
        return TvmCall::Set(failure);
      }
    }
    static const KernelFacts facts(kernel);
    return TvmCall::Run(facts, given, count, result);
  }

  inline static const void* package_data = nullptr;
  inline static DovetailKernel kernel = {sizeof(DovetailKernel),
                                         nullptr,
                                         Def::kName,
                                         Def::kDoc,
                                         kParameters,
                                         static_cast<int32_t>(sizeof...(Args)),
                                         ReturnType<R>::kCount,
                                         ReturnType<R>::kIsTuple,
                                         &Invoke,
                                         &TorchKernel,
                                         &XlaKernel<kDLCPU>,
                                         &XlaKernel<kDLCUDA>,
                                         &XlaKernel<kDLROCM>,
                                         &package_data};
};

template <typename Def, typename Function>
struct EntryOf;
template <typename Def, typename R, typename... Args>
struct EntryOf<Def, R (*const)(Args...)> {
  using Type = Entry<Def, R(Args...), std::index_sequence_for<Args...>>;
};

template <typename Def>
bool Add() {
  DovetailKernel& kernel = EntryOf<Def, decltype(Def::kFunction)>::Type::kernel;
  kernel.next = library.kernels;
  library.kernels = &kernel;
  return true;
}

template <typename Def>
int CallByTvm(const void* arguments, int32_t count, void* result) {
  return EntryOf<Def, decltype(Def::kFunction)>::Type::CallByTvm(
      static_cast<const TvmAny*>(arguments), count, static_cast<TvmAny*>(result));
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

// (Each file has it, and they are the same.)
extern "C" [[gnu::visibility("default"), gnu::used]] inline const DovetailKernelLibrary*
DovetailKernelLibraryOf() {
  return &::dovetail::internal_kernels::library;
}

#define DOVETAIL_INTERNAL_EXPORTED __attribute__((visibility("default"), used))
#define DOVETAIL_INTERNAL_JOIN_2(a, b) a##b
#define DOVETAIL_INTERNAL_JOIN(a, b) DOVETAIL_INTERNAL_JOIN_2(a, b)
// (The symbol is what tvm-ffi looks for. Two kernels of one name do not link. The named namespace:
// nvcc does not compile an unnamed one directly in another one.)
#define DOVETAIL_INTERNAL_KERNEL(number, name, function, doc, ...)                                \
  namespace dovetail_kernels_of_file {                                                            \
  namespace {                                                                                     \
  struct DOVETAIL_INTERNAL_JOIN(DovetailKernel, number) {                                         \
    static constexpr auto kFunction = &function;                                                  \
    static constexpr const char* kName = name;                                                    \
    static constexpr const char* kDoc = doc;                                                      \
    static constexpr const char* kTexts[] = {__VA_ARGS__, nullptr};                               \
  };                                                                                              \
  [[maybe_unused]] const bool DOVETAIL_INTERNAL_JOIN(dovetail_kernel_is_added_, number) =         \
      ::dovetail::internal_kernels::Add<DOVETAIL_INTERNAL_JOIN(DovetailKernel, number)>();        \
  }                                                                                               \
  extern "C" DOVETAIL_INTERNAL_EXPORTED int DOVETAIL_INTERNAL_JOIN(dovetail_tvm_kernel_, number)( \
      void*, const void*, int32_t, void*) __asm__("__tvm_ffi_" name);                             \
  extern "C" int DOVETAIL_INTERNAL_JOIN(dovetail_tvm_kernel_,                                     \
                                        number)(void*, const void* arguments, int32_t count,      \
                                                void* result) {                                   \
    using Def = DOVETAIL_INTERNAL_JOIN(DovetailKernel, number);                                   \
    return ::dovetail::internal_kernels::CallByTvm<Def>(arguments, count, result);                \
  }                                                                                               \
  }                                                                                               \
  static_assert(true, "ends with a semicolon")

#define DOVETAIL_KERNEL(function, ...) \
  DOVETAIL_INTERNAL_KERNEL(__COUNTER__, #function, function, nullptr, __VA_ARGS__)
#define DOVETAIL_KERNEL_DOC(function, doc, ...) \
  DOVETAIL_INTERNAL_KERNEL(__COUNTER__, #function, function, doc, __VA_ARGS__)
#define DOVETAIL_KERNEL_AS(name, function, doc, ...) \
  DOVETAIL_INTERNAL_KERNEL(__COUNTER__, name, function, doc, __VA_ARGS__)

#endif  // DOVETAIL_PYTHON_KERNELS_KERNEL_H_
