// What an Arg may require of a tensor, as types: Arg<float, Shape<"n", 3>, Contiguous>.

#ifndef DOVETAIL_PYTHON_ARG_REQUIREMENTS_H_
#define DOVETAIL_PYTHON_ARG_REQUIREMENTS_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dovetail/core/freestanding/type_widths.h"
#include "dovetail/python/args/arg_view.h"
#include "dovetail/python/args/one_of.h"
#include "dovetail/python/args/sizes.h"
#include "dovetail/python/borrowed.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {

// The DLPack type of a C++ type of the same size. core/freestanding/narrow_floats.h has types for
// float16, bfloat16 and float8. A program adds its own types:
//   template <> struct dovetail::DLPackType<__half> {
//     static constexpr DLDataType value = {kDLFloat, 16, 1};
//   };
template <typename T>
struct DLPackType {
  static_assert(std::is_arithmetic<T>::value,
                "Not an element type. Specialise dovetail::DLPackType for it.");
  static constexpr DLDataType value = {
      static_cast<uint8_t>(std::is_same<T, bool>::value       ? kDLBool
                           : std::is_floating_point<T>::value ? kDLFloat
                           : std::is_signed<T>::value         ? kDLInt
                                                              : kDLUInt),
      static_cast<uint8_t>(8 * sizeof(T)), 1};
};
template <typename T>
struct DLPackType<std::complex<T>> {
  static constexpr DLDataType value = {kDLComplex, static_cast<uint8_t>(16 * sizeof(T)), 1};
};
template <internal_dtype::TypeCode kCode, int kBits>
struct DLPackType<NarrowFloat<kCode, kBits>> {
  static constexpr DLDataType value = {kCode, kBits, 1};
};

// So many dimensions, of any size.
template <int kNdim>
struct Rank {};

// At least so many.
template <int kNdim>
struct MinRank {};

// Row-major without gaps; column-major without gaps; stride 1 in the last dimension.
struct Contiguous {};
struct FContiguous {};
struct InnerContiguous {};

// Strides in elements; DOVETAIL_ANY_STRIDE for any.
template <int64_t... kStrides>
struct Strides {};

// The memory of one kind of device instead of host memory: OnDevice<kDLCUDA>.
template <int kDLPackDeviceType>
struct OnDevice {};
using OnCpu = OnDevice<kDLCPU>;
using OnCuda = OnDevice<kDLCUDA>;
using OnRocm = OnDevice<kDLROCM>;
using AnyDevice = OnDevice<DOVETAIL_ANY_DEVICE>;

// Element 0 at a multiple of so many bytes; by default, of the alignment of the element type.
template <uint32_t kBytes>
struct Aligned {};

// The same as a const element type.
struct ReadOnly {};

// For const elements. A copy is made of a tensor in the wrong memory or order, or misaligned; and
// of one of another dtype, as far as NumPy's same_kind casting goes. Otherwise nothing is copied.
struct AllowCopy {};
struct AllowCast {};

// For elements that are written: several may be in one place, as in an expanded tensor (stride 0).
// Otherwise that is refused.
struct AllowRepeats {};

// No memory in common with another tensor argument of the call.
struct NoOverlap {};

namespace internal_arg {

// The DLPack type of T, whose size it states: pointers to T would leave the memory otherwise.
template <typename T>
constexpr DLDataType TypeOf() {
  constexpr DLDataType kType = DLPackType<T>::value;
  static_assert(size_t{kType.bits} * kType.lanes == 8 * sizeof(T),
                "DLPackType<T>::value has another size than T. Elements of less than a byte need a "
                "T of several: {kDLInt, 4, 2} is two in a byte.");
  return kType;
}

// What the rules of one Arg say together. Later rules of a kind win.
struct Gathered {
  int rank = -1;
  int32_t device = DOVETAIL_HOST_MEMORY;
  uint32_t flags = 0;
  uint32_t alignment = 0;
  bool no_overlap = false;
};

template <int64_t... kValues>
struct Values {
  static constexpr int kCount = sizeof...(kValues);
  static constexpr int64_t kArray[sizeof...(kValues) + 1] = {kValues..., 0};
};

struct NoRule {
  static constexpr void Apply(Gathered&) {}
};
template <uint32_t kFlags>
struct FlagRule {
  static constexpr void Apply(Gathered& all) { all.flags |= kFlags; }
};

struct CopyImmutable {};  // of InOut

template <typename Rule>
struct RuleOf;  // Not a rule of an Arg.
template <int kNdim>
struct RuleOf<Rank<kNdim>> {
  static constexpr void Apply(Gathered& all) { all.rank = kNdim; }
};
template <int kNdim>
struct RuleOf<MinRank<kNdim>> {
  static constexpr void Apply(Gathered& all) {
    all.rank = kNdim;
    all.flags |= DOVETAIL_LEADING;
  }
};
template <typename Found>
struct ShapeRule {
  using Sizes = Found;
  static constexpr void Apply(Gathered& all) {
    all.rank = Found::kCount;
    if (Found::kHasLead) all.flags |= DOVETAIL_LEADING;
  }
};
#if __cplusplus >= 202002L
template <Size... kSizes>
struct RuleOf<Shape<kSizes...>> : ShapeRule<NamedSizes<kSizes...>> {};
#else
template <int64_t... kSizes>
struct RuleOf<Shape<kSizes...>> : ShapeRule<Sizes<kSizes...>> {};
#endif
template <int64_t... kStrides>
struct RuleOf<Strides<kStrides...>> : RuleOf<Rank<sizeof...(kStrides)>> {
  using Steps = Values<kStrides...>;
};
template <>
struct RuleOf<Contiguous> : FlagRule<DOVETAIL_C_CONTIGUOUS> {};
template <>
struct RuleOf<FContiguous> : FlagRule<DOVETAIL_F_CONTIGUOUS> {};
template <>
struct RuleOf<InnerContiguous> : FlagRule<DOVETAIL_INNER_CONTIGUOUS> {};
template <>
struct RuleOf<AllowCopy> : FlagRule<DOVETAIL_ALLOW_COPY> {};
template <>
struct RuleOf<AllowCast> : FlagRule<DOVETAIL_ALLOW_CAST> {};
template <>
struct RuleOf<AllowRepeats> : FlagRule<DOVETAIL_ALLOW_REPEATS> {};
template <>
struct RuleOf<ReadOnly> : NoRule {};
template <>
struct RuleOf<NoOverlap> {
  static constexpr void Apply(Gathered& all) { all.no_overlap = true; }
};
template <>
struct RuleOf<CopyImmutable> : FlagRule<DOVETAIL_COPY_IMMUTABLE> {};
template <int kType>
struct RuleOf<OnDevice<kType>> {
  static constexpr void Apply(Gathered& all) { all.device = kType; }
};
template <uint32_t kBytes>
struct RuleOf<Aligned<kBytes>> {
  static_assert(kBytes > 0 && (kBytes & (kBytes - 1)) == 0, "An alignment is a power of two.");
  static constexpr void Apply(Gathered& all) { all.alignment = kBytes; }
};

// The sizes of a Shape, the strides of a Strides; nothing for other rules. (Not told by kArray,
// because g++ takes no comparison of addresses for a constant under UBSan.)
struct NoSizes {
  static constexpr bool kIsThere = false;
  static constexpr const int64_t* kArray = nullptr;
  static constexpr int64_t kLead = 0;
  static constexpr bool kHasLongNames = false;
  static constexpr const char* const* kLongNames = nullptr;
  static constexpr const char* kLeadName = "";
};
template <typename Found>
struct SomeSteps : NoSizes {
  static constexpr bool kIsThere = true;
  static constexpr const int64_t* kArray = Found::kArray;
};
template <typename Rule, typename = void>
struct SizesIn : NoSizes {};
template <typename Rule>
struct SizesIn<Rule, std::void_t<typename RuleOf<Rule>::Sizes>> : RuleOf<Rule>::Sizes {};
template <typename Rule, typename = void>
struct StepsIn : NoSizes {};
template <typename Rule>
struct StepsIn<Rule, std::void_t<typename RuleOf<Rule>::Steps>>
    : SomeSteps<typename RuleOf<Rule>::Steps> {};

template <typename... All>
struct FirstOf : NoSizes {};
template <typename First, typename... More>
struct FirstOf<First, More...> : std::conditional_t<First::kIsThere, First, FirstOf<More...>> {};

// The element types of an Arg: T, or those of a OneOf, whose elements are void.
template <typename T>
struct Elements {
  using Element = T;
  using Choices = Types<std::remove_const_t<T>>;
  static constexpr int kCount = 0;  // of kTypes
  static constexpr const DLDataType* kTypes = nullptr;
  static constexpr int64_t kName = 0;
};
template <int64_t kTypeName, typename Void, typename... Ts>
struct SeveralElements {
  static_assert(sizeof...(Ts) > 0, "OneOf needs a type.");
  using Element = Void;
  using Choices = Types<Ts...>;
  static constexpr int kCount = sizeof...(Ts);
  static constexpr DLDataType kTypes[] = {TypeOf<Ts>()...};
  static constexpr int64_t kName = kTypeName;
};
#if __cplusplus >= 202002L
template <Size kName, typename... Ts>
struct Elements<OneOf<kName, Ts...>> : SeveralElements<kName.value, void, Ts...> {};
template <Size kName, typename... Ts>
struct Elements<const OneOf<kName, Ts...>> : SeveralElements<kName.value, const void, Ts...> {};
#else
template <int64_t kName, typename... Ts>
struct Elements<OneOf<kName, Ts...>> : SeveralElements<kName, void, Ts...> {};
template <int64_t kName, typename... Ts>
struct Elements<const OneOf<kName, Ts...>> : SeveralElements<kName, const void, Ts...> {};
#endif

template <typename T, typename... Rules>
using Written = std::conditional_t<(std::is_same<Rules, ReadOnly>::value || ...), const T, T>;
template <typename T, typename... Rules>
using ElementOf = typename Elements<Written<T, Rules...>>::Element;

template <typename T>
constexpr uint32_t AlignmentOf() {
  if constexpr (std::is_void<T>::value) {
    return 1;
  } else {
    return alignof(T);
  }
}

template <typename T, typename... Rules>
struct Facts {
  using All = Elements<Written<T, Rules...>>;
  using Element = typename All::Element;
  using Choices = typename All::Choices;
  using Sizes = FirstOf<SizesIn<Rules>...>;  // of the first Shape
  static constexpr Gathered Gather() {
    Gathered all;
    (RuleOf<Rules>::Apply(all), ...);
    return all;
  }
  static constexpr Gathered kAll = Gather();
  static constexpr bool kHasLead = (kAll.flags & DOVETAIL_LEADING) != 0;
  static constexpr int kRank = kHasLead ? -1 : kAll.rank;  // -1: any
  static constexpr int kNamedRank = kAll.rank;             // without the leading dimensions
  static constexpr bool kNoOverlap = kAll.no_overlap;
  static constexpr bool kIsConst = std::is_const<Element>::value;
  static constexpr Dense kDense = (kAll.flags & DOVETAIL_C_CONTIGUOUS) != 0       ? Dense::kAll
                                  : (kAll.flags & DOVETAIL_INNER_CONTIGUOUS) != 0 ? Dense::kRows
                                                                                  : Dense::kNone;
  static constexpr bool kOnHost = kAll.device == DOVETAIL_HOST_MEMORY || kAll.device == kDLCPU ||
                                  kAll.device == kDLCUDAHost || kAll.device == kDLROCMHost ||
                                  kAll.device == kDLCUDAManaged;
  static_assert(kIsConst || (kAll.flags & (DOVETAIL_ALLOW_COPY | DOVETAIL_ALLOW_CAST)) == 0,
                "What a function writes can't be a copy: AllowCopy and AllowCast need const.");

  static constexpr DLDataType Type() {
    if constexpr (std::is_void<Element>::value) {
      return {0, 0, 0};  // any
    } else {
      return TypeOf<std::remove_const_t<Element>>();
    }
  }
  static constexpr DovetailRequirements kRequirements = {
      /*dtype=*/Type(),
      /*device_type=*/kAll.device,
      /*shape=*/Sizes::kArray,
      /*strides=*/FirstOf<StepsIn<Rules>...>::kArray,
      /*ndim=*/kNamedRank < 0 ? 0 : kNamedRank,
      /*alignment=*/kAll.alignment != 0 ? kAll.alignment : AlignmentOf<Element>(),
      /*flags=*/kAll.flags | (kRank < 0 ? 0u : uint32_t{DOVETAIL_NDIM}) |
          (kIsConst ? 0u : uint32_t{DOVETAIL_WRITABLE}) |
          (All::kCount > 0 ? uint32_t{DOVETAIL_ONE_OF} : 0u),
      /*num_types=*/All::kCount,
      /*types=*/All::kTypes,
      /*type_name=*/All::kName,
      /*leading_name=*/Sizes::kLead,
      /*long_names=*/Sizes::kLongNames};
  static_assert(!kHasLead || !FirstOf<StepsIn<Rules>...>::kIsThere,
                "Strides<...> and leading dimensions don't go together.");

  // Whether a size has a name, so that the arguments of a call depend on each other.
  static constexpr bool HasNames() {
    if (Sizes::kLead != 0 || All::kName != 0) return true;
    for (int i = 0; Sizes::kIsThere && i < kNamedRank; ++i) {
      if (Sizes::kArray[i] < DOVETAIL_ANY_SIZE) return true;
    }
    return false;
  }
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARG_REQUIREMENTS_H_
