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

#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/borrowed.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// Numbers of names: capi.h.
constexpr uint64_t kHashBit = uint64_t{1} << 55;
constexpr size_t kLettersInNumber = 7;

// Whether a name is one of leading dimensions: it begins with three dots.
template <size_t kLength>
constexpr bool IsLeadingName(const char (&name)[kLength]) {
  return kLength > 3 && name[0] == '.' && name[1] == '.' && name[2] == '.';
}

// FNV-1a.
template <size_t kLength>
constexpr uint64_t HashOf(const char (&name)[kLength]) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i + 1 < kLength; ++i) {
    hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x100000001b3;
  }
  return hash ^ (hash >> 32);
}

// A hash keeps the dots of a name of leading dimensions.
template <size_t kLength>
constexpr int64_t NumberOf(const char (&name)[kLength]) {
  constexpr uint64_t kDots = 0x2e2e2e;
  uint64_t number = 0;
  if constexpr (kLength - 1 <= kLettersInNumber) {
    for (size_t i = kLength - 1; i > 0; --i) {
      number = number * 256 + static_cast<unsigned char>(name[i - 1]);
    }
  } else if (IsLeadingName(name)) {
    number = kDots + (HashOf(name) % (uint64_t{1} << 31) << 24);
  } else {
    number = HashOf(name) % kHashBit + kHashBit;
  }
  return -1 - static_cast<int64_t>(number);
}

// Whether a number is that of a name of leading dimensions, such as "...".
constexpr bool IsLeading(int64_t size) {
  const int64_t number = -1 - size;
  return size < -1 && (number & static_cast<int64_t>(kHashBit)) == 0 &&
         (number & 0xffffff) == 0x2e2e2e;
}

// Letters that the text of a signature may have.
template <size_t kLength>
constexpr bool IsName(const char (&name)[kLength]) {
  for (size_t i = IsLeadingName(name) ? 3 : 0; i + 1 < kLength; ++i) {
    const char c = name[i];
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}
inline void NameHasOtherLetters() {}  // no constant expression, so that such a name is an error

// Eight letters of a name that is not a number of its own; 0 of others.
template <size_t kLength>
constexpr uint64_t LettersOf(const char (&name)[kLength], size_t first) {
  uint64_t letters = 0;
  for (size_t i = 0; kLength - 1 > kLettersInNumber && i < 8 && first + i < kLength; ++i) {
    letters |= uint64_t{static_cast<unsigned char>(name[first + i])} << (8 * i);
  }
  return letters;
}

}  // namespace internal_arg

// The number of a name of up to seven letters.
template <size_t kLength>
constexpr int64_t Named(const char (&name)[kLength]) {
  static_assert(kLength > 1 && kLength - 1 <= internal_arg::kLettersInNumber,
                "The name of a size has one to seven letters in C++17.");
  return internal_arg::NumberOf(name);
}

#if __cplusplus >= 202002L
// A size: a number, -1 for any, or a name. (The letters of a long name are numbers, and the first
// constructor takes all members: nvcc writes template arguments out as Size{…}.)
struct Size {
  static constexpr size_t kLongest = 63;

  int64_t value;
  uint64_t w0, w1, w2, w3, w4, w5, w6, w7;  // letters, the first in the lowest byte of w0

  // NOLINTNEXTLINE(google-explicit-constructor): Shape<3, "n"> is the point.
  constexpr Size(int64_t size, uint64_t l0 = 0, uint64_t l1 = 0, uint64_t l2 = 0, uint64_t l3 = 0,
                 uint64_t l4 = 0, uint64_t l5 = 0, uint64_t l6 = 0, uint64_t l7 = 0)
      : value(size), w0(l0), w1(l1), w2(l2), w3(l3), w4(l4), w5(l5), w6(l6), w7(l7) {}
  template <size_t kLength>
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Size(const char (&name)[kLength])
      : Size(internal_arg::NumberOf(name), internal_arg::LettersOf(name, 0),
             internal_arg::LettersOf(name, 8), internal_arg::LettersOf(name, 16),
             internal_arg::LettersOf(name, 24), internal_arg::LettersOf(name, 32),
             internal_arg::LettersOf(name, 40), internal_arg::LettersOf(name, 48),
             internal_arg::LettersOf(name, 56)) {
    static_assert(kLength > 1 && kLength - 1 <= kLongest, "A name has 1 to 63 letters.");
    if (!internal_arg::IsName(name)) internal_arg::NameHasOtherLetters();
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
  static constexpr bool kHasLongNames = false;
  static constexpr const char* const* kLongNames = nullptr;
  static constexpr const char* kLeadName = "";  // of a hash

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
// The text of a long name; empty for others. (Not nullptr: g++ takes no comparison of addresses for
// a constant under UBSan.)
template <Size kSize>
struct LongName {
  struct Text {
    char letters[Size::kLongest + 1] = {};
  };
  static constexpr Text Make() {
    const uint64_t words[] = {kSize.w0, kSize.w1, kSize.w2, kSize.w3,
                              kSize.w4, kSize.w5, kSize.w6, kSize.w7};
    Text text;
    for (size_t i = 0; i < Size::kLongest; ++i) {
      text.letters[i] = static_cast<char>(words[i / 8] >> (8 * (i % 8)) & 0xff);
    }
    return text;
  }
  static constexpr Text kText = Make();
};

template <Size... kSizes>
struct NamedSizes : Sizes<kSizes.value...> {
  static constexpr const char* kTexts[sizeof...(kSizes) + 1] = {LongName<kSizes>::kText.letters...,
                                                                ""};
  static constexpr bool kHasLongNames = (... || (kSizes.w0 != 0));
  static constexpr const char* const* kLongNames =
      kHasLongNames ? kTexts + (NamedSizes::kHasLead ? 1 : 0) : nullptr;
  static constexpr const char* kLeadName = NamedSizes::kHasLead ? kTexts[0] : "";
};
#endif

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARGS_SIZES_H_
