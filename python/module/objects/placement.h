// The dtype= and device= of the functions that make tensors.
//
//   Placement wanted;
//   if (!wanted.Parse(dtype_argument, device_argument)) return nullptr;
//   if (!NewHostTensor(shape, wanted.dtype_or(kFloat32), &tensor)) return nullptr;
//   if (!MoveTo(wanted.device.value_or(Device::Cpu()), &tensor)) return nullptr;
//
// Functions return false with an error set; they need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_PLACEMENT_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_PLACEMENT_H_

#include <Python.h>

#include <cstring>
#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"

namespace dovetail::python {

struct Placement {
  std::optional<DType> dtype;
  std::optional<Device> device;

  DType dtype_or(DType otherwise) const { return dtype.value_or(otherwise); }

  // Of what may be absent or None.
  bool Parse(PyObject* dtype_argument, PyObject* device_argument) {
    return (!IsGiven(dtype_argument) || ParseDType(dtype_argument, &dtype.emplace())) &&
           (!IsGiven(device_argument) || ParseDevice(device_argument, &device.emplace()));
  }
};

// An uninitialised tensor on the CPU, to be filled element by element: only bits that belong to no
// element, or share a byte with others, are set to 0.
inline bool NewHostTensor(absl::Span<const int64_t> shape, DType dtype, Tensor* tensor) {
  absl::StatusOr<Tensor> made = Tensor::Empty(shape, dtype);
  if (!made.ok()) return RaiseStatus(made.status()), false;
  *tensor = *std::move(made);
  if (dtype.is_sub_byte() && tensor->nbytes() > 0) {
    std::memset(tensor->raw_data(), 0, tensor->nbytes());
  }
  return true;
}

// Replaces a tensor on the CPU by a copy where `device` is another one.
inline bool MoveTo(Device device, Tensor* tensor) {
  if (device == Device::Cpu()) return true;
  absl::StatusOr<Tensor> moved =
      WithoutGilIf(IsLong(*tensor, device), [&] { return Copied(*tensor, {.device = device}); });
  if (!moved.ok()) return RaiseStatus(moved.status()), false;
  *tensor = *std::move(moved);
  return true;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_PLACEMENT_H_
