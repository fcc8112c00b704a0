// One element cast by the rules of core/copy.h, one element at a time, to compare casts with.
//
//   Element element = ElementAt(memory, bit, kInt4);
//   std::optional<Element> cast = PlainCast(element, kInt4, kFloat16);     // nullopt: no rule
//
// An Element is a value in the low bits of its bytes.

#ifndef DOVETAIL_TESTS_FUZZ_PLAIN_CAST_H_
#define DOVETAIL_TESTS_FUZZ_PLAIN_CAST_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "dovetail/core/dtype.h"

namespace dovetail::fuzz {

using Element = std::array<char, 16>;

Element ElementAt(const char* memory, int64_t bit, DType dtype);
std::string ElementHex(const Element& element);
void PutElement(char* memory, int64_t bit, DType dtype, const Element& element);

// nullopt where core/copy.h leaves the result to the processor, and for complex numbers.
std::optional<Element> PlainCast(const Element& from, DType from_type, DType to_type);

// Whether the bits are equal or both are NaN.
bool SameValue(const Element& a, const Element& b, DType dtype);

}  // namespace dovetail::fuzz

#endif  // DOVETAIL_TESTS_FUZZ_PLAIN_CAST_H_
