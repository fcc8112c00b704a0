#include "dovetail/python/module/values/converted.h"

#include <optional>
#include <utility>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/float_format.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/values/casting.h"
#include "dovetail/python/module/values/elements.h"
#include "dovetail/python/module/values/progression.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {
namespace {

// From so many on, typed loops take less time than single elements.
constexpr int64_t kManyElements = 32;

bool IsIntegral(DType dtype) {
  return dtype.kind == TypeKind::kInt || dtype.kind == TypeKind::kUInt;
}

// Whether every value of a type can be cast: what is to be refused otherwise is found among the
// elements.
bool TakesAll(DType from, DType to) {
  if (CanCast(from, to, Casting::kSafe) || to == kBool) return true;
  if (from.is_complex()) return to.is_complex();
  const std::optional<FloatFormat> format = FloatFormatOf(to);
  return to.is_complex() || (format && (format->has_nan() || !FloatFormatOf(from)));
}

bool Cast(const Tensor& from, const CopiedOptions& options, Tensor* to) {
  const bool is_long = IsLong(from, options.device.value_or(from.device()));
  absl::StatusOr<Tensor> cast = WithoutGilIf(is_long, [&] { return Copied(from, options); });
  if (!cast.ok()) return RaiseStatus(cast.status()), false;
  *to = *std::move(cast);
  return true;
}

// Raises for the first element of the block that does not fit.
bool CheckEach(const Tensor& dense, const ElementBlock& block, DType integer) {
  alignas(16) char element[kMaxElementBytes] = {};
  const DType dtype = dense.dtype();
  for (int64_t i = block.begin; i < block.begin + block.count; ++i) {
    if (!WriteValue(element, 0, integer, ReadElement(dense.raw_data(), i * dtype.bits, dtype))) {
      return false;
    }
  }
  return true;  // the memory changed meanwhile
}

// To an integer type, from integers or real numbers: a look at all of them, and then a cast.
bool ToIntegers(const Tensor& source, DType integer, Device device, Tensor* to) {
  Tensor dense = source;
  if (!HasRange(source.dtype())) {  // narrow types, which these hold
    const DType wide = !IsIntegral(source.dtype())             ? kFloat32
                       : source.dtype().kind == TypeKind::kInt ? kInt8
                                                               : kUInt8;
    if (!Cast(source, {.dtype = wide}, &dense)) return false;
  } else if (!source.is_contiguous() && !Cast(source, {}, &dense)) {
    return false;
  }
  const absl::StatusOr<ElementBlock> outside =
      WithoutGilIf(IsLong(dense), [&] { return FindOutside(dense, integer); });
  if (!outside.ok()) return RaiseStatus(outside.status()), false;
  return CheckEach(dense, *outside, integer) &&
         Cast(dense, {.dtype = integer, .device = device}, to);
}

bool ByElement(const Tensor& source, DType dtype, Device device, Tensor* to) {
  if (!NewHostTensor(source.shape(), dtype, to)) return false;
  ElementWriter writer(to);
  const int64_t step = StepBits(source.dtype(), source.packing());
  WithoutGilIf(IsLong(source) || IsLong(*to), [&] {
    return ForEachElement(source.layout(), step, 0, [&](int64_t bit) {
      return writer.Write(ReadElement(source.raw_data(), bit, source.dtype()));
    });
  });
  return writer.Finish() && MoveTo(device, to);
}

}  // namespace

bool Converted(const Tensor& from, DType dtype, Device device, Tensor* to) {
  if (!CheckHasNumbers(from.dtype()) || !CheckHasNumbers(dtype)) return false;
  if (absl::Status s = NoCopiesScope::Check(); !s.ok()) return RaiseStatus(s), false;
  if (TakesAll(from.dtype(), dtype)) return Cast(from, {.dtype = dtype, .device = device}, to);
  Tensor copy;
  const Tensor* const ready = ReadyHost(from, &copy);
  if (ready == nullptr) return false;
  const Tensor source = *ready;  // held without the GIL
  const bool is_real = IsIntegral(source.dtype()) || FloatFormatOf(source.dtype()).has_value();
  const bool is_typed = IsIntegral(dtype) && is_real && source.num_elements() >= kManyElements;
  return is_typed ? ToIntegers(source, dtype, device, to) : ByElement(source, dtype, device, to);
}

}  // namespace dovetail::python
