#include "dovetail/python/module/values/progression.h"

#include <algorithm>

#include "absl/status/status.h"
#include "dovetail/core/internal/interruption.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/values/element_writer.h"
#include "dovetail/python/module/values/number_types.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {
namespace {

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

bool Fill(const Progression& numbers, Tensor* tensor) {
  const int64_t count = tensor->num_elements();
  const DType dtype = tensor->dtype();
  if (count == 0) return true;
  // The others lie between the first and the last.
  alignas(16) char element[kMaxElementBytes] = {};
  if (!WriteValue(element, 0, dtype, numbers.At(0)) ||
      !WriteValue(element, 0, dtype, numbers.At(count - 1))) {
    return false;
  }
  if (const Filler fill = FillerOf(dtype); fill != nullptr) {
    const bool done =
        WithoutGilIf(IsLong(*tensor), [&] { return fill(numbers, tensor->raw_data(), count); });
    return done || PyErr_Occurred() == nullptr;
  }
  ElementWriter writer(tensor);
  WithoutGilIf(IsLong(*tensor), [&] {
    int64_t i = 0;
    while (i < count && writer.Write(numbers.At(i))) ++i;
    return i;
  });
  return writer.Finish();
}

}  // namespace dovetail::python
