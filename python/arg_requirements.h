// What an Arg may require of a tensor, as types: Arg<float, Shape<"n", 3>, Contiguous>.

#ifndef DOVETAIL_PYTHON_ARG_REQUIREMENTS_H_
#define DOVETAIL_PYTHON_ARG_REQUIREMENTS_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dovetail/core/freestanding/type_widths.h"
#include "dovetail/python/capi.h"

// Part of every name here, so that two extensions of different versions in one process differ.
#define DOVETAIL_ARG_ABI arg_v1

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

// A size with a name of up to seven letters. Sizes of one name agree among the arguments of a call.
template <size_t kLength>
constexpr int64_t Named(const char (&name)[kLength]) {
  static_assert(kLength > 1 && kLength <= 8, "The name of a size has one to seven letters.");
  int64_t letters = 0;
  for (size_t i = kLength - 1; i > 0; --i) {
    letters = letters * 256 + static_cast<unsigned char>(name[i - 1]);
  }
  return -1 - letters;
}

// Shape<-1, 3>: two dimensions, of any size and of size 3. Shape<"n", "n">: a square.
#if __cplusplus >= 202002L
struct Size {
  int64_t value;
  // NOLINTNEXTLINE(google-explicit-constructor): Shape<3, "n"> is the point.
  constexpr Size(int64_t size) : value(size) {}
  template <size_t kLength>
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Size(const char (&name)[kLength]) : value(Named(name)) {}
};
template <Size... kSizes>
struct Shape {};
#else
template <int64_t... kSizes>
struct Shape {};
#endif

// So many dimensions, of any size.
template <int kNdim>
struct Rank {};

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

template <typename Rule>
struct RuleOf;  // Not a rule of an Arg.
template <int kNdim>
struct RuleOf<Rank<kNdim>> {
  static constexpr void Apply(Gathered& all) { all.rank = kNdim; }
};
#if __cplusplus >= 202002L
template <Size... kSizes>
struct RuleOf<Shape<kSizes...>> : RuleOf<Rank<sizeof...(kSizes)>> {
  using Sizes = Values<kSizes.value...>;
};
#else
template <int64_t... kSizes>
struct RuleOf<Shape<kSizes...>> : RuleOf<Rank<sizeof...(kSizes)>> {
  using Sizes = Values<kSizes...>;
};
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
struct NoArray {
  static constexpr bool kIsThere = false;
  static constexpr const int64_t* kArray = nullptr;
};
template <typename Found>
struct SomeArray {
  static constexpr bool kIsThere = true;
  static constexpr const int64_t* kArray = Found::kArray;
};
template <typename Rule, typename = void>
struct SizesIn : NoArray {};
template <typename Rule>
struct SizesIn<Rule, std::void_t<typename RuleOf<Rule>::Sizes>>
    : SomeArray<typename RuleOf<Rule>::Sizes> {};
template <typename Rule, typename = void>
struct StepsIn : NoArray {};
template <typename Rule>
struct StepsIn<Rule, std::void_t<typename RuleOf<Rule>::Steps>>
    : SomeArray<typename RuleOf<Rule>::Steps> {};

template <typename... All>
struct FirstArray : NoArray {};
template <typename First, typename... More>
struct FirstArray<First, More...>
    : std::conditional_t<First::kIsThere, First, FirstArray<More...>> {};

template <typename T, typename... Rules>
using ElementOf = std::conditional_t<(std::is_same<Rules, ReadOnly>::value || ...), const T, T>;

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
  using Element = ElementOf<T, Rules...>;
  using Sizes = FirstArray<SizesIn<Rules>...>;  // of the first Shape
  static constexpr Gathered Gather() {
    Gathered all;
    (RuleOf<Rules>::Apply(all), ...);
    return all;
  }
  static constexpr Gathered kAll = Gather();
  static constexpr int kRank = kAll.rank;
  static constexpr bool kIsConst = std::is_const<Element>::value;
  static constexpr bool kIsDense = (kAll.flags & DOVETAIL_C_CONTIGUOUS) != 0;
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
      /*strides=*/FirstArray<StepsIn<Rules>...>::kArray,
      /*ndim=*/kRank < 0 ? 0 : kRank,
      /*alignment=*/kAll.alignment != 0 ? kAll.alignment : AlignmentOf<Element>(),
      /*flags=*/kAll.flags | (kRank < 0 ? 0u : uint32_t{DOVETAIL_NDIM}) |
          (kIsConst ? 0u : uint32_t{DOVETAIL_WRITABLE})};

  // Whether a size has a name, so that the arguments of a call depend on each other.
  static constexpr bool HasNames() {
    for (int i = 0; Sizes::kIsThere && i < kRank; ++i) {
      if (Sizes::kArray[i] < DOVETAIL_ANY_SIZE) return true;
    }
    return false;
  }
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARG_REQUIREMENTS_H_
