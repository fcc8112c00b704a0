#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "dovetail/core/internal/fill_new.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/functions/functions.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/progression.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {
namespace {

constexpr char kFunction[] = "arange() ";

std::nullptr_t Refuse(const char* what) {
  PyErr_Format(PyExc_ValueError, "%s%s", kFunction, what);
  return nullptr;
}

// A bound or step: an integer where all three are, else a double.
struct Number {
  bool is_integer = true;
  int64_t integer = 0;
  double real = 0;
};

bool ParseNumber(PyObject* value, const char* name, Number* result) {
  ElementValue v;
  if (!ValueFromPython(value, /*to_float=*/false, &v)) return false;
  if (const auto* i = std::get_if<int64_t>(&v)) {
    *result = {true, *i, static_cast<double>(*i)};
  } else if (const auto* b = std::get_if<bool>(&v)) {
    *result = {true, *b, static_cast<double>(*b)};
  } else if (const auto* d = std::get_if<double>(&v)) {
    *result = {false, 0, *d};
    if (!std::isfinite(*d)) {
      PyErr_Format(PyExc_ValueError, "%sneeds finite numbers; %s is %R", kFunction, name, value);
      return false;
    }
  } else {
    PyErr_Format(PyExc_ValueError, "%stakes real numbers within int64; %s is %R", kFunction, name,
                 value);
    return false;
  }
  return true;
}

// How many there are; nullopt when more than an int64 counts.
std::optional<int64_t> CountIntegers(int64_t start, int64_t stop, int64_t step) {
  const bool up = step > 0;
  const uint64_t distance = up ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                               : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t size = up ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const uint64_t count = distance / size + (distance % size != 0);
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(count);
}

std::optional<int64_t> CountReals(double start, double stop, double step) {
  const double count = std::ceil((stop - start) / step);
  if (!(count < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(count);
}

bool IsIntegral(DType dtype) {
  return dtype.kind == TypeKind::kInt || dtype.kind == TypeKind::kUInt;
}

}  // namespace

PyObject* Arange(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("arange", 3, 0,
                                              {"start", "stop", "step", "dtype", "device"});
  PyObject* v[5];
  Placement wanted;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !wanted.Parse(v[3], v[4])) return nullptr;
  if (!IsGiven(v[1])) {  // arange(stop)
    v[1] = v[0];
    v[0] = nullptr;
  }
  if (!IsGiven(v[1])) {
    PyErr_Format(PyExc_TypeError, "%sneeds a stop", kFunction);
    return nullptr;
  }
  Number start, stop, step{true, 1, 1.0};
  if ((IsGiven(v[0]) && !ParseNumber(v[0], "start", &start)) || !ParseNumber(v[1], "stop", &stop) ||
      (IsGiven(v[2]) && !ParseNumber(v[2], "step", &step))) {
    return nullptr;
  }
  const bool integers = start.is_integer && stop.is_integer && step.is_integer;
  const DType dtype = wanted.dtype_or(integers ? kInt64 : kFloat32);
  if (!CheckHasNumbers(dtype)) return nullptr;
  if (step.real == 0) return Refuse("needs a step other than 0");
  if (integers ? (step.integer > 0 ? start.integer > stop.integer : start.integer < stop.integer)
               : (step.real > 0 ? start.real > stop.real : start.real < stop.real)) {
    return Refuse("never reaches stop: the step has the wrong sign");
  }
  if (!integers && IsIntegral(dtype) &&
      (std::trunc(start.real) != start.real || std::trunc(step.real) != step.real)) {
    return Refuse("needs integers as start and step for an integer type");
  }
  const std::optional<int64_t> count =
      integers ? CountIntegers(start.integer, stop.integer, step.integer)
               : CountReals(start.real, stop.real, step.real);
  if (!count) return Refuse("would have more elements than an int64 counts");
  const Progression numbers{integers, start.integer, step.integer, start.real, step.real};
  if (!CheckFits(numbers, *count, dtype)) return nullptr;
  Tensor tensor;
  const Device device = wanted.device.value_or(Device::Cpu());
  if (device != Device::Cpu()) {
    absl::StatusOr<Tensor> there = Tensor::Empty({*count}, dtype, device);
    if (!there.ok()) return RaiseStatus(there.status());
    const absl::Status filled = FillNew(*there, numbers);
    if (filled.ok()) return WrapTensor(*std::move(there));
    if (!absl::IsUnimplemented(filled)) return RaiseStatus(filled);
  }
  if (!NewHostTensor({*count}, dtype, &tensor) || !Fill(numbers, &tensor)) return nullptr;
  if (!MoveTo(device, &tensor)) return nullptr;
  return WrapTensor(std::move(tensor));
}

}  // namespace dovetail::python
