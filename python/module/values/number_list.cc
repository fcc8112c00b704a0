#include "dovetail/python/module/values/number_list.h"

#include <utility>

#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/values/converted.h"
#include "dovetail/python/module/values/element_writer.h"

namespace dovetail::python {
namespace {

// From so many on, a tensor of the numbers and its conversion take less time than single elements.
constexpr size_t kManyNumbers = 512;

// Types for which a cast rounds once, as WriteValue does.
bool IsCastExactly(DType dtype) {
  return dtype.kind == TypeKind::kInt || dtype.kind == TypeKind::kUInt || dtype == kFloat32 ||
         dtype == kFloat64;
}

template <typename T>
bool WriteEach(const std::vector<T>& numbers, absl::Span<const int64_t> shape, DType dtype,
               Tensor* result) {
  if (!NewHostTensor(shape, dtype, result)) return false;
  ElementWriter writer(result);
  WithoutGilIf(IsLong(*result), [&] {
    for (const T& number : numbers) {
      if (!writer.Write(number)) return false;
    }
    return true;
  });
  return writer.Finish();
}

}  // namespace

void NumberList::AddOther(const ElementValue& value) {
  for (const int64_t integer : integers_) others_.emplace_back(integer);
  for (const double real : reals_) others_.emplace_back(real);
  integers_.clear();
  reals_.clear();
  others_.push_back(value);
}

template <typename T>
bool NumberList::WriteTyped(std::vector<T>* numbers, absl::Span<const int64_t> shape, DType dtype,
                            Tensor* result) {
  if (numbers->size() < kManyNumbers || !IsCastExactly(dtype)) {
    return WriteEach(*numbers, shape, dtype, result);
  }
  const absl::StatusOr<Tensor> typed = Tensor::Wrap(std::move(*numbers), shape);
  if (!typed.ok()) return RaiseStatus(typed.status()), false;
  const InternalCopies allowed;
  return Converted(*typed, dtype, Device::Cpu(), result);
}

bool NumberList::Write(absl::Span<const int64_t> shape, DType dtype, Tensor* result) {
  if (!integers_.empty()) return WriteTyped(&integers_, shape, dtype, result);
  if (!reals_.empty()) return WriteTyped(&reals_, shape, dtype, result);
  return WriteEach(others_, shape, dtype, result);
}

}  // namespace dovetail::python
