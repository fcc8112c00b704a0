#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"

#include <optional>
#include <utility>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/peers/torch/torch_state.h"
#include "dovetail/python/exchange/protocols/type_and_device.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/assign.h"

namespace dovetail::python {
PyObject* NewCopy(PyObject* self, const CopiedOptions& target) {
  const Tensor source = AsTensor(self);
  const bool is_long = IsLong(source, target.device.value_or(source.device()));
  absl::StatusOr<Tensor> copy = WithoutGilIf(is_long, [&] { return Copied(source, target); });
  const bool mark = AsTensorObject(self)->requires_grad.load() &&
                    MayRequireGrad(target.dtype.value_or(source.dtype()).kind);
  return WrapTensor(std::move(copy), mark);
}

bool ParseOrder(PyObject* value, MemoryOrder* order) {
  if (!IsGiven(value)) return true;
  constexpr std::pair<const char*, MemoryOrder> kOrders[] = {{"C", MemoryOrder::kC},
                                                             {"F", MemoryOrder::kF},
                                                             {"A", MemoryOrder::kA},
                                                             {"K", MemoryOrder::kK}};
  for (const auto& [name, known] : kOrders) {
    if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, name) == 0) {
      return *order = known, true;
    }
  }
  PyErr_Format(PyExc_ValueError, "order must be one of 'C', 'F', 'A', 'K', not %R", value);
  return false;
}

namespace {

// A type, or else a device; text may be either.
bool ParseTypeOrDevice(PyObject* value, Placement* wanted) {
  if (PyUnicode_Check(value)) {
    const char* text = PyUnicode_AsUTF8(value);
    if (text == nullptr) return false;
    if (absl::StatusOr<DType> parsed = DType::Parse(text); parsed.ok()) {
      wanted->dtype = *parsed;
      return true;
    }
    return ParseDevice(value, &wanted->device.emplace());
  }
  if (IsDLPackDevice(value)) return ParseDevice(value, &wanted->device.emplace());
  const bool is_type = IsDLPackType(value);
  if (ParseDType(value, &wanted->dtype.emplace())) return true;
  if (is_type || !ForgetException()) return false;
  wanted->dtype.reset();
  if (ParseDevice(value, &wanted->device.emplace())) return true;
  if (!ForgetException()) return false;
  PyErr_Format(PyExc_TypeError, "to() takes a dtype, a device or a dovetail.Tensor first, not %R",
               value);
  return false;
}

// What to() is asked for.
struct ToRequest {
  Placement wanted;
  std::optional<bool> copy;

  // As torch does, by what stands first: a tensor or a type is followed by non_blocking and copy, a
  // device (or None) by a type as well.
  bool Parse(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    static constinit const Signature kFromDevice("to", 4, 0,
                                                 {"device", "dtype", "non_blocking", "copy"});
    static constinit const Signature kFromType("to", 3, 0,
                                               {"first", "non_blocking", "copy", "device", "dtype"},
                                               /*positional_only=*/1);
    PyObject* v[5];
    if (nargs == 0 || args[0] == Py_None) {
      return kFromDevice.Parse(args, nargs, kwnames, v) && wanted.Parse(v[1], v[0]) &&
             ParseFlags(v[2], v[3]);
    }
    Placement first;
    if (IsTensor(args[0])) {
      first.dtype = AsTensor(args[0]).dtype();
      first.device = AsTensor(args[0]).device();
    } else if (!ParseTypeOrDevice(args[0], &first)) {
      return false;
    }
    if (!first.dtype) {
      return kFromDevice.Parse(args, nargs, kwnames, v) && wanted.Parse(v[1], v[0]) &&
             ParseFlags(v[2], v[3]);
    }
    if (!kFromType.Parse(args, nargs, kwnames, v) || !wanted.Parse(v[4], v[3])) return false;
    if (wanted.dtype || (first.device && wanted.device)) {
      PyErr_SetString(PyExc_TypeError, "to() got the dtype or the device twice");
      return false;
    }
    wanted.dtype = first.dtype;
    if (first.device) wanted.device = first.device;
    return ParseFlags(v[1], v[2]);
  }

 private:
  bool ParseFlags(PyObject* non_blocking, PyObject* copy_flag) {
    std::optional<bool> ignored;
    return ParseOptionalBool(non_blocking, "non_blocking", &ignored) &&
           ParseOptionalBool(copy_flag, "copy", &copy);
  }
};

}  // namespace

PyObject* CopyMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("copy", 1, 0, {"order"});
  PyObject* v[1];
  CopiedOptions target;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseOrder(v[0], &target.order)) {
    return nullptr;
  }
  return NewCopy(self, target);
}

PyObject* DeepCopyMethod(PyObject* self, PyObject*) { return NewCopy(self, {}); }

PyObject* ContiguousMethod(PyObject* self, PyObject*) {
  if (AsTensor(self).is_contiguous()) return Py_NewRef(self);
  return NewCopy(self, {});
}

PyObject* ToMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  ToRequest request;
  if (!request.Parse(args, nargs, kwnames)) return nullptr;
  const Tensor& tensor = AsTensor(self);
  const CopiedOptions target{.dtype = request.wanted.dtype_or(tensor.dtype()),
                             .device = request.wanted.device.value_or(tensor.device()),
                             .order = MemoryOrder::kK};
  const bool changes = target.dtype != tensor.dtype() || target.device != tensor.device();
  if (!changes && !request.copy.value_or(false)) return Py_NewRef(self);
  return NewCopy(self, target);
}

PyObject* CopyToFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("copyto", 3, 2, {"dst", "src", "casting"});
  PyObject* v[3];
  Casting casting = Casting::kSameKind;
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  if (IsGiven(v[2]) && !ParseCasting(v[2], &casting)) return nullptr;
  if (!IsTensor(v[0])) {
    PyErr_Format(PyExc_TypeError, "copyto() writes to a dovetail.Tensor, not to %.200s",
                 Py_TYPE(v[0])->tp_name);
    return nullptr;
  }
  // A copy, since converting the value may run any Python code.
  const Tensor dst = AsTensor(v[0]);
  if (!AssignWhole(dst, v[1], {casting, PyExc_TypeError, /*covers_numbers=*/true})) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
