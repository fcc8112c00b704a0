// Input: a fuzzer's bytes, drawn as numbers and text.
//
//   Input input(data, size);
//   const int64_t rank = input.Between(0, 5);
//   if (input.OneIn(8)) …
//
// Equal bytes draw equal values. When the bytes have ended, every number drawn is the lowest.

#ifndef DOVETAIL_TESTS_FUZZ_INPUT_H_
#define DOVETAIL_TESTS_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

// Before a function that computes what the library should: libFuzzer does not count its paths, so
// that it looks for new ones in the library, and gets more inputs done.
#ifdef __clang__
#define DOVETAIL_MODEL __attribute__((no_sanitize("coverage")))
#else
#define DOVETAIL_MODEL
#endif

namespace dovetail::fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  bool ended() const { return left_ == 0; }

  // Any value of a type of plain bytes.
  template <typename T>
  T Any() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value = {};
    const size_t size = std::min(left_, sizeof value);
    if (size != 0) std::memcpy(&value, data_, size);
    Skip(size);
    return value;
  }

  // lowest <= the number <= highest, at most 65536 apart. One byte, or two for a wide range.
  int64_t Between(int64_t lowest, int64_t highest) {
    const int64_t count = highest - lowest + 1;
    return lowest + (count <= 256 ? Any<uint8_t>() : Any<uint16_t>()) % count;
  }
  // False when the bytes have ended.
  bool OneIn(int n) { return Between(0, n - 1) == n - 1; }
  template <typename T, size_t kCount>
  T Pick(const T (&values)[kCount]) {
    return values[Between(0, kCount - 1)];
  }

  // A number near 0, near a power of two, or any.
  int64_t Number() {
    switch (Between(0, 3)) {
      case 0:
        return Between(-4, 12);
      case 1:
        return static_cast<int64_t>(uint64_t{1} << Between(0, 63)) + Between(0, 2);
      case 2:
        return -static_cast<int64_t>(uint64_t{1} << Between(0, 62)) - Between(0, 2);
      default:
        return Any<int64_t>();
    }
  }

  // At most `most` bytes.
  std::string Text(size_t most) {
    const size_t size =
        std::min(left_, static_cast<size_t>(Between(0, static_cast<int64_t>(most))));
    const std::string text(reinterpret_cast<const char*>(data_), std::min(size, left_));
    Skip(text.size());
    return text;
  }
  std::string_view Rest() {
    const std::string_view rest(reinterpret_cast<const char*>(data_), left_);
    Skip(left_);
    return rest;
  }

 private:
  void Skip(size_t size) {
    data_ += size;
    left_ -= size;
  }

  const uint8_t* data_;
  size_t left_;
};

}  // namespace dovetail::fuzz

#endif  // DOVETAIL_TESTS_FUZZ_INPUT_H_
