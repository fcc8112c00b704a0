#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/internal/memory_order.h"
#include "dovetail/core/internal/views/views.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/assign.h"

namespace dovetail::python {
namespace {

PyObject* ToDevice(PyObject* self, Device device) {
  if (AsTensor(self).device() == device) return Py_NewRef(self);
  return NewCopy(self, {.device = device, .order = MemoryOrder::kK});
}

// Writes `value` to all elements, and returns a new reference to `self`.
PyObject* AssignAll(PyObject* self, PyObject* value) {
  // A copy, since converting the value may run any Python code.
  const Tensor tensor = AsTensor(self);
  if (!AssignWhole(tensor, value, {Casting::kUnsafe, PyExc_TypeError})) return nullptr;
  return Py_NewRef(self);
}

}  // namespace

PyObject* NumElMethod(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(AsTensor(self).num_elements());
}

PyObject* DimMethod(PyObject* self, PyObject*) { return PyLong_FromLong(AsTensor(self).rank()); }

PyObject* ElementSizeMethod(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(AsTensor(self).dtype().itemsize());
}

PyObject* StrideMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("stride", 1, 0, {"dim"});
  PyObject* v[1];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  const Layout& layout = AsTensor(self).layout();
  if (!IsGiven(v[0])) return ShapeToPython(layout.strides());
  int64_t given;
  int dim;
  if (!ParseInt(v[0], &given)) return nullptr;
  if (absl::Status s = NormalizeDim(given, layout.rank(), &dim); !s.ok()) return RaiseStatus(s);
  return PyLong_FromLongLong(layout.stride(dim));
}

PyObject* StorageOffsetMethod(PyObject* self, PyObject*) {
  const Tensor& tensor = AsTensor(self);
  const int64_t step = StepBits(tensor.dtype(), tensor.packing());
  __extension__ typedef __int128 Wide;
  const Wide bits = static_cast<Wide>(tensor.byte_offset()) * 8;
  if (bits % step != 0) {
    return Raise(PyExc_ValueError,
                 absl::StrCat("element 0 lies ", tensor.byte_offset(), " bytes from the start of ",
                              "the memory, which is no whole number of elements"));
  }
  return PyLong_FromLongLong(static_cast<long long>(bits / step));
}

PyObject* IsCuda(PyObject* self) {
  return PyBool_FromLong(AsTensor(self).device().type == DeviceType::kCuda);
}

PyObject* CpuMethod(PyObject* self, PyObject*) { return ToDevice(self, Device::Cpu()); }

PyObject* CudaMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("cuda", 1, 0, {"device"});
  PyObject* v[1];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  Device device = Device::Cuda(0);
  if (!IsGiven(v[0])) {
    if (AsTensor(self).device().type == DeviceType::kCuda) return Py_NewRef(self);
  } else if (PyLong_Check(v[0])) {
    int64_t index;
    if (!ParseInt(v[0], &index)) return nullptr;
    if (index < 0 || index > INT32_MAX) {
      PyErr_Format(PyExc_ValueError, "%R is no index of a device", v[0]);
      return nullptr;
    }
    device.index = static_cast<int32_t>(index);
  } else if (!ParseDevice(v[0], &device)) {
    return nullptr;
  } else if (device.type != DeviceType::kCuda) {
    PyErr_Format(PyExc_ValueError, "cuda() takes a CUDA device, not %R", v[0]);
    return nullptr;
  }
  return ToDevice(self, device);
}

PyObject* ToDeviceMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) {
  static constinit const Signature kSignature("to_device", 1, 1, {"device", "stream"},
                                              /*positional_only=*/1);
  PyObject* v[2];
  Device device;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseDevice(v[0], &device)) return nullptr;
  if (IsGiven(v[1])) {
    return Raise(PyExc_TypeError,
                 "to_device() orders the copy by itself; for one on a stream of yours, call it "
                 "inside of \"with dovetail.stream(stream):\"");
  }
  return ToDevice(self, device);
}

PyObject* AsTypeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("astype", 3, 1,
                                              {"dtype", "order", "casting", "copy"});
  PyObject* v[4];
  DType dtype;
  CopiedOptions target{.order = MemoryOrder::kK};
  Casting casting = Casting::kUnsafe;
  std::optional<bool> copy;
  const DType from = AsTensor(self).dtype();
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseDType(v[0], &dtype) ||
      !ParseOrder(v[1], &target.order) || (IsGiven(v[2]) && !ParseCasting(v[2], &casting)) ||
      !ParseOptionalBool(v[3], "copy", &copy)) {
    return nullptr;
  }
  if (!CanCast(from, dtype, casting)) {
    return Raise(PyExc_TypeError,
                 absl::StrCat("the rule '", CastingName(casting), "' allows no cast from ",
                              from.ToString(), " to ", dtype.ToString()));
  }
  if (dtype == from && !copy.value_or(true) && IsInOrder(AsTensor(self).layout(), target.order)) {
    return Py_NewRef(self);
  }
  target.dtype = dtype;
  return NewCopy(self, target);
}

PyObject* CloneMethod(PyObject* self, PyObject*) {
  return NewCopy(self, {.order = MemoryOrder::kK});
}

PyObject* ToBytesMethod(PyObject* self, PyObject*) {
  if (absl::Status s = NoCopiesScope::Check(); !s.ok()) return RaiseStatus(s);
  Tensor tensor = AsTensor(self);
  PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(tensor.nbytes()));
  if (bytes == nullptr || tensor.num_elements() == 0) return bytes;
  const absl::Status status = WithoutGilIf(IsLong(tensor), [&]() -> absl::Status {
    if (!tensor.is_contiguous() || tensor.device() != Device::Cpu()) {
      absl::StatusOr<Tensor> dense =
          Copied(tensor, {.device = Device::Cpu(), .order = MemoryOrder::kC});
      if (!dense.ok()) return dense.status();
      tensor = *std::move(dense);
    }
    std::memcpy(PyBytes_AS_STRING(bytes), tensor.raw_data(),
                static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
    return absl::OkStatus();
  });
  if (status.ok()) return bytes;
  Py_DECREF(bytes);
  return RaiseStatus(status);
}

PyObject* FillInPlaceMethod(PyObject* self, PyObject* value) { return AssignAll(self, value); }

PyObject* ZeroInPlaceMethod(PyObject* self, PyObject*) {
  PyObject* zero = PyBool_FromLong(0);
  PyObject* result = AssignAll(self, zero);
  Py_DECREF(zero);
  return result;
}

PyObject* CopyInPlaceMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames) {
  static constinit const Signature kSignature("copy_", 2, 1, {"src", "non_blocking"});
  PyObject* v[2];
  std::optional<bool> ignored;
  if (!kSignature.Parse(args, nargs, kwnames, v) ||
      !ParseOptionalBool(v[1], "non_blocking", &ignored)) {
    return nullptr;
  }
  return AssignAll(self, v[0]);
}

}  // namespace dovetail::python
