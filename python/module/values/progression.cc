#include "dovetail/python/module/values/progression.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/values/elements.h"
#include "dovetail/python/module/values/numbers.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {
namespace {

ElementValue At(const Progression& numbers, int64_t i) {
  return numbers.is_integer ? ElementValue(numbers.IntegerAt(i)) : ElementValue(numbers.RealAt(i));
}

constexpr int64_t kElementsPerQuestion = 1 << 21;  // 16 MiB of int64

// False if the work is to stop.
template <typename T>
bool FillAs(const Progression& numbers, void* data, int64_t count) {
  T* const to = static_cast<T*>(data);
  for (int64_t begin = 0; begin < count; begin += kElementsPerQuestion) {
    if (begin > 0 && ScopedInterruption::IsAsked()) return false;
    const int64_t end = std::min(count, begin + kElementsPerQuestion);
    if (numbers.is_integer) {
      auto number = static_cast<uint64_t>(numbers.IntegerAt(begin));
      for (int64_t i = begin; i < end; ++i, number += static_cast<uint64_t>(numbers.step)) {
        to[i] = static_cast<T>(static_cast<int64_t>(number));
      }
    } else {
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(numbers.RealAt(i));
    }
  }
  return true;
}

using Filler = bool (*)(const Progression& numbers, void* data, int64_t count);

// nullptr for types that C++ does not have.
Filler FillerOf(DType dtype) {
  return OfNumberType<Filler>(dtype, []<typename T>() { return &FillAs<T>; });
}

}  // namespace

bool CheckFits(const Progression& numbers, int64_t count, DType dtype) {
  if (count == 0) return true;
  alignas(16) char element[kMaxElementBytes] = {};
  return WriteValue(element, 0, dtype, At(numbers, 0)) &&
         WriteValue(element, 0, dtype, At(numbers, count - 1));
}

bool Fill(const Progression& numbers, Tensor* tensor) {
  const int64_t count = tensor->num_elements();
  const DType dtype = tensor->dtype();
  if (count == 0) return true;
  if (const Filler fill = FillerOf(dtype); fill != nullptr) {
    const bool done =
        WithoutGilIf(IsLong(*tensor), [&] { return fill(numbers, tensor->raw_data(), count); });
    return done || PyErr_Occurred() == nullptr;
  }
  ElementWriter writer(tensor);
  WithoutGilIf(IsLong(*tensor), [&] {
    int64_t i = 0;
    while (i < count && writer.Write(At(numbers, i))) ++i;
    return i;
  });
  return writer.Finish();
}

namespace {

constexpr int64_t kBlock = 1024;              // a constant, so that loops are vectorised
constexpr int64_t kBlocksPerQuestion = 2048;  // 16 MiB of int64

struct Range {
  explicit Range(DType integer) {
    const bool is_signed = integer.kind == TypeKind::kInt;
    const int bits = is_signed ? integer.bits - 1 : integer.bits;
    highest = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    lowest = is_signed ? -static_cast<int64_t>(highest) - 1 : 0;
    above = std::ldexp(1.0, bits);
    // Between it and the lowest, every number loses its fraction.
    below = static_cast<double>(lowest) - 1.0;
    if (below == static_cast<double>(lowest)) below = std::nextafter(below, -HUGE_VAL);
  }

  int64_t lowest;
  uint64_t highest;
  double below, above;  // exclusive
};

template <typename T>
T Load(const char* elements, int64_t i) {
  T value;
  std::memcpy(&value, elements + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
bool AllWithin(const char* elements, int64_t count, const Range& range) {
  unsigned outside = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (int64_t i = 0; i < count; ++i) {
      const double value = Load<T>(elements, i);
      outside |= !(value > range.below) | !(value < range.above);
    }
  } else {
    using Limits = std::numeric_limits<T>;
    const T highest = static_cast<T>(std::min<uint64_t>(range.highest, Limits::max()));
    T lowest = 0;
    if constexpr (std::is_signed_v<T>) {
      lowest = static_cast<T>(std::max<int64_t>(range.lowest, Limits::min()));
    }
    for (int64_t i = 0; i < count; ++i) {
      const T value = Load<T>(elements, i);
      outside |= static_cast<unsigned>(value < lowest) | static_cast<unsigned>(value > highest);
    }
  }
  return outside == 0;
}

template <typename T>
absl::StatusOr<ElementBlock> Find(const Tensor& tensor, const Range& range) {
  const char* const data = static_cast<const char*>(tensor.raw_data());
  const int64_t count = tensor.num_elements();
  for (int64_t block = 0; block * kBlock < count; ++block) {
    if (block % kBlocksPerQuestion == 0 && block > 0 && ScopedInterruption::IsAsked()) {
      return absl::CancelledError("The conversion was stopped.");
    }
    const int64_t begin = block * kBlock;
    const int64_t size = std::min(kBlock, count - begin);
    const char* const at = data + begin * static_cast<int64_t>(sizeof(T));
    const bool fits =
        size == kBlock ? AllWithin<T>(at, kBlock, range) : AllWithin<T>(at, size, range);
    if (!fits) return ElementBlock{begin, size};
  }
  return ElementBlock{};
}

using Finder = absl::StatusOr<ElementBlock> (*)(const Tensor& tensor, const Range& range);

Finder FinderOf(DType dtype) {
  return OfNumberType<Finder>(dtype, []<typename T>() { return &Find<T>; });
}

}  // namespace

bool HasRange(DType dtype) { return FinderOf(dtype) != nullptr; }

absl::StatusOr<ElementBlock> FindOutside(const Tensor& tensor, DType integer) {
  return FinderOf(tensor.dtype())(tensor, Range(integer));
}

}  // namespace dovetail::python
