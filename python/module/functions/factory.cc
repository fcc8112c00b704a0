#include "dovetail/python/module/functions/functions.h"

#include <nanobind/nanobind.h>

#include <cstring>
#include <optional>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/fill_new.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"
#include "dovetail/python/module/values/converted.h"
#include "dovetail/python/module/values/data_kind.h"
#include "dovetail/python/module/values/nested.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

bool Take(absl::StatusOr<Tensor> from, Tensor* to) {
  if (!from.ok()) return RaiseStatus(from.status()), false;
  *to = *std::move(from);
  return true;
}

bool CopyExchanged(const Tensor& from, const Placement& wanted, Tensor* result) {
  const Device device = wanted.device.value_or(from.device());
  if (wanted.dtype_or(from.dtype()) != from.dtype()) {
    return Converted(from, *wanted.dtype, device, result);
  }
  return Take(WithoutGilIf(IsLong(from, device), [&] { return Copied(from, {.device = device}); }),
              result);
}

PyObject* TensorFromData(PyObject* data, const Placement& wanted, bool requires_grad) {
  Tensor tensor;
  DataKind kind;
  nb::object array;
  if (!Classify(data, &kind, &array)) return nullptr;
  if (kind == DataKind::kArray) {
    if (!CopyExchanged(AsTensor(array.ptr()), wanted, &tensor)) return nullptr;
  } else {
    const DType* dtype = wanted.dtype ? &*wanted.dtype : nullptr;
    if (!TensorFromNested(data, dtype, &tensor)) return nullptr;
    if (!MoveTo(wanted.device.value_or(Device::Cpu()), &tensor)) return nullptr;
  }
  nb::object result = nb::steal(WrapTensor(std::move(tensor)));
  if (!result.is_valid()) return nullptr;
  if (requires_grad && !MarkRequiresGrad(result.ptr(), true)) return nullptr;
  return result.release().ptr();
}

// The arguments of empty and zeros.
bool ParseShaped(const Signature& signature, PyObject* const* args, Py_ssize_t nargs,
                 PyObject* kwnames, Dims* shape, Placement* placement) {
  PyObject* v[4];
  if (!signature.Parse(args + nargs, 0, kwnames, v)) return false;
  if (!placement->Parse(v[0], v[1])) return false;
  PyObject* named = v[2] != nullptr ? v[2] : v[3];
  const bool twice = (v[2] != nullptr && v[3] != nullptr) || (named != nullptr && nargs > 0);
  if (twice || (named == nullptr && nargs == 0)) {
    PyErr_SetString(PyExc_TypeError, "give the shape once: as ints, a sequence, or by shape=");
    return false;
  }
  return named != nullptr ? ParseShape(named, shape) : ParseDims(args, nargs, shape);
}

}  // namespace

PyObject* MakeTensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("tensor", 1, 1,
                                              {"data", "dtype", "device", "requires_grad"});
  PyObject* v[4];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  Placement wanted;
  std::optional<bool> requires_grad;
  if (!wanted.Parse(v[1], v[2]) || !ParseOptionalBool(v[3], "requires_grad", &requires_grad)) {
    return nullptr;
  }
  return TensorFromData(v[0], wanted, requires_grad.value_or(false));
}

PyObject* ToTensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("to_tensor", 4, 1,
                                              {"data", "dtype", "place", "stop_gradient"});
  PyObject* v[4];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  Placement wanted;
  std::optional<bool> stop_gradient;
  if (!wanted.Parse(v[1], v[2]) || !ParseOptionalBool(v[3], "stop_gradient", &stop_gradient)) {
    return nullptr;
  }
  return TensorFromData(v[0], wanted, !stop_gradient.value_or(true));
}

PyObject* Empty(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("empty", 0, 0, {"dtype", "device", "shape", "size"});
  Dims shape;
  Placement wanted;
  if (!ParseShaped(kSignature, args, nargs, kwnames, &shape, &wanted)) return nullptr;
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return nullptr;
  const absl::Status made = internal_tensor::MakeEmpty(
      shape, wanted.dtype_or(kFloat32), wanted.device.value_or(Device::Cpu()), &self->tensor);
  if (made.ok()) return reinterpret_cast<PyObject*>(self);
  Py_DECREF(self);
  return RaiseStatus(made);
}

PyObject* Zeros(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("zeros", 0, 0, {"dtype", "device", "shape", "size"});
  Dims shape;
  Placement wanted;
  Tensor tensor;
  if (!ParseShaped(kSignature, args, nargs, kwnames, &shape, &wanted)) return nullptr;
  const Device device = wanted.device.value_or(Device::Cpu());
  if (!Take(Tensor::Empty(shape, wanted.dtype_or(kFloat32), device), &tensor)) return nullptr;
  if (device != Device::Cpu()) {
    const absl::Status filled =
        WithoutGilIf(IsLong(tensor), [&] { return FillNew(tensor, nullptr); });
    return filled.ok() ? WrapTensor(std::move(tensor)) : RaiseStatus(filled);
  }
  const auto nbytes = static_cast<size_t>(tensor.nbytes());
  if (nbytes > 0 && !internal_storage::StorageAccess::GivesZeros(*tensor.storage())) {
    WithoutGilIf(IsLong(tensor), [&] { return std::memset(tensor.raw_data(), 0, nbytes); });
  }
  return WrapTensor(std::move(tensor));
}

PyObject* Full(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("full", 2, 2,
                                              {"shape", "fill_value", "dtype", "device"});
  PyObject* v[4];
  Dims shape;
  Placement wanted;
  Tensor element, tensor;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseShape(v[0], &shape) ||
      !wanted.Parse(v[2], v[3])) {
    return nullptr;
  }
  if (!TensorFromNested(v[1], wanted.dtype ? &*wanted.dtype : nullptr, &element)) return nullptr;
  if (element.rank() != 0) {
    PyErr_Format(PyExc_TypeError, "fill_value must be a number or a 0-d tensor, not %.200s",
                 Py_TYPE(v[1])->tp_name);
    return nullptr;
  }
  if (!Take(Tensor::Empty(shape, element.dtype(), wanted.device.value_or(Device::Cpu())),
            &tensor)) {
    return nullptr;
  }
  const absl::Status filled =
      WithoutGilIf(IsLong(tensor), [&] { return FillNew(tensor, element.raw_data()); });
  if (!filled.ok()) return RaiseStatus(filled);
  return WrapTensor(std::move(tensor));
}

}  // namespace dovetail::python
