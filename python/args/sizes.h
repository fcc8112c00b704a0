// The sizes that an Arg requires, with names.
//
//   Shape<"rows", 3>             // two dimensions: of any size, called "rows", and of size 3
//   Shape<"...", "n">            // any dimensions, then one
//   Shape<"b", Twice<"half">>    // of twice the size that another argument calls "half"
//
// Sizes of one name agree among the arguments of a call, and so do the dimensions of one name that
// begins with three dots. C++17 has no strings as template arguments: Shape<Named("n"), 3>.

#ifndef DOVETAIL_PYTHON_ARGS_SIZES_H_
#define DOVETAIL_PYTHON_ARGS_SIZES_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/python/capi.h"

// Part of every name here, so that two extensions of different versions in one process differ.
#define DOVETAIL_ARG_ABI arg_v1

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// Numbers of names: capi.h.
constexpr uint64_t kHashBit = uint64_t{1} << 55;
constexpr size_t kLettersInNumber = 7;

template <size_t kLength>
constexpr int64_t NumberOf(const char (&name)[kLength]) {
  uint64_t number = 0;
  if constexpr (kLength - 1 <= kLettersInNumber) {
    for (size_t i = kLength - 1; i > 0; --i) {
      number = number * 256 + static_cast<unsigned char>(name[i - 1]);
    }
  } else {
    number = 0xcbf29ce484222325;  // FNV-1a
    for (size_t i = 0; i + 1 < kLength; ++i) {
      number = (number ^ static_cast<unsigned char>(name[i])) * 0x100000001b3;
    }
    number = (number ^ (number >> 55)) % kHashBit + kHashBit;
  }
  return -1 - static_cast<int64_t>(number);
}

// Whether a number is that of a name of leading dimensions, such as "...".
constexpr bool IsLeading(int64_t size) { return size < -1 && ((-1 - size) & 0xff) == '.'; }

}  // namespace internal_arg

// The number of a name of up to seven letters.
template <size_t kLength>
constexpr int64_t Named(const char (&name)[kLength]) {
  static_assert(kLength > 1 && kLength - 1 <= internal_arg::kLettersInNumber,
                "The name of a size has one to seven letters in C++17.");
  return internal_arg::NumberOf(name);
}

#if __cplusplus >= 202002L
// A size: a number, -1 for any, or a name.
struct Size {
  static constexpr size_t kLongest = 63;

  int64_t value;
  char text[kLongest + 1] = {};  // of a name of which the number is a hash

  // NOLINTNEXTLINE(google-explicit-constructor): Shape<3, "n"> is the point.
  constexpr Size(int64_t size) : value(size) {}
  template <size_t kLength>
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Size(const char (&name)[kLength]) : value(internal_arg::NumberOf(name)) {
    static_assert(kLength > 1 && kLength - 1 <= kLongest, "A name has 1 to 63 letters.");
    if (kLength - 1 <= internal_arg::kLettersInNumber) return;
    for (size_t i = 0; i < kLength; ++i) text[i] = name[i];
  }
};

template <Size... kSizes>
struct Shape {};

namespace internal_arg {
consteval Size Multiple(int factor, Size name) {
  if (name.value >= -1 || IsLeading(name.value)) throw "Only a named size has multiples.";
  if (factor < 1 || factor > 128) throw "A multiple is 1 to 128 times the size.";
  name.value -= static_cast<int64_t>(factor - 1) << 56;
  return name;
}
}  // namespace internal_arg

template <int kFactor, Size kName>
inline constexpr Size Times = internal_arg::Multiple(kFactor, kName);
template <Size kName>
inline constexpr Size Twice = Times<2, kName>;
#else
template <int64_t... kSizes>
struct Shape {};
#endif

namespace internal_arg {

// What a Shape says: kArray has kCount entries, without the leading dimensions.
template <int64_t... kValues>
struct Sizes {
  static constexpr bool kIsThere = true;
  static constexpr int kAll = sizeof...(kValues);
  static constexpr int64_t kValuesArray[sizeof...(kValues) + 1] = {kValues..., 0};
  static constexpr bool kHasLead = IsLeading(kValuesArray[0]);
  static constexpr int kCount = kAll - (kHasLead ? 1 : 0);
  static constexpr const int64_t* kArray = kValuesArray + (kHasLead ? 1 : 0);
  static constexpr int64_t kLead = kHasLead ? kValuesArray[0] : 0;
  static constexpr const char* const* kLongNames = nullptr;

  static constexpr int CountLeads() {
    int count = 0;
    for (int i = 0; i < kAll; ++i) count += IsLeading(kValuesArray[i]) ? 1 : 0;
    return count;
  }
  static_assert(CountLeads() == (kHasLead ? 1 : 0), "Leading dimensions come first, and once.");

  // The dimension of that size, counted from the end: -1 is the last. 0 if there is none.
  static constexpr int Find(int64_t value) {
    for (int i = 0; i < kAll; ++i) {
      if (kValuesArray[i] == value) return i - kAll;
    }
    return 0;
  }
};

#if __cplusplus >= 202002L
template <Size... kSizes>
struct NamedSizes : Sizes<kSizes.value...> {
  static constexpr const char* kTexts[sizeof...(kSizes) + 1] = {
      (kSizes.text[0] != '\0' ? kSizes.text : nullptr)..., nullptr};
  static constexpr const char* const* kLongNames =
      (... || (kSizes.text[0] != '\0')) ? kTexts + (NamedSizes::kHasLead ? 1 : 0) : nullptr;
};
#endif

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARGS_SIZES_H_
