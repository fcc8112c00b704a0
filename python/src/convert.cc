#include "dovetail/python/src/convert.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/dlpack_in.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/exchange_in.h"
#include "dovetail/python/src/numpy_lend.h"
#include "dovetail/python/src/numpy_out.h"
#include "dovetail/python/src/owner.h"
#include "dovetail/python/src/target.h"
#include "dovetail/python/src/tensor_object.h"
#include "dovetail/python/src/thread_end.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyObject* registered = nullptr;  // a dict: class → function of a dovetail.Tensor

// What the library would not take as it is; nullptr when it takes all of it.
const char* Misfit(const Target& target, const Tensor& tensor) {
  if (!target.TakesAccess(tensor.access(), tensor.device().type)) {
    return "is read-only, which it would not respect";
  }
  if (tensor.num_elements() == 0) return nullptr;
  if (!target.TakesSigns(tensor.strides())) {
    return "has negative strides, which it has no way to say";
  }
  if (!target.takes_strides && !tensor.is_contiguous()) {
    return "is not contiguous, which it asks for";
  }
  if (reinterpret_cast<uintptr_t>(tensor.raw_data()) % target.alignment != 0) {
    return "is not aligned in memory as it asks";
  }
  return nullptr;
}

// x as a tensor of ours.
bool TakeIn(PyObject* x, std::optional<bool> copy, ConvertTrace* trace, Tensor* tensor) {
  ImportRequest request;
  if (copy == std::optional<bool>(false)) request.copy = copy;  // other copies are made in Fit
  if (trace != nullptr) request.trace = &trace->import;
  if (!ImportAny(x, request, tensor)) return false;
  if (trace != nullptr) trace->tensor = *tensor;
  return true;
}

// Makes the tensor one that the library takes, by a copy if need be.
bool Fit(const Target& target, std::optional<bool> copy, ConvertTrace* trace, Tensor* tensor,
         bool* copied) {
  const char* misfit = Misfit(target, *tensor);
  if (trace != nullptr) trace->misfit = misfit;
  *copied = misfit != nullptr || copy.value_or(false);
  if (!*copied) return true;
  if (copy == std::optional<bool>(false)) {
    RaiseExchange(absl::StrCat("A ", target.type.module(), ".", target.type.name(),
                               " can't share this memory: the tensor ", misfit,
                               ". copy=False forbids the copy that it takes."));
    return false;
  }
  return ReplaceByCopy(tensor->device(), tensor);
}

PyObject* CallFunction(const Target& target, PyObject* tensor) {
  nb::object module = nb::steal(PyImport_ImportModule(target.function_module));
  if (!module.is_valid()) return nullptr;
  nb::object function = nb::steal(PyObject_GetAttrString(module.ptr(), target.function));
  if (!function.is_valid()) return nullptr;
  return HangAtThreadEnd([&] { return PyObject_CallOneArg(function.ptr(), tensor); });
}

bool HasExchangeApi(const Target& target, const Tensor& tensor) {
  return target.exchange_function() != nullptr && tensor.device().type == DeviceType::kCpu;
}

// dlpack.h does not say who owns the struct when the function fails. PyTorch and tvm-ffi leave it
// to the caller; another may have deleted it.
PyObject* ByExchangeApi(const Target& target, const Tensor& tensor, bool copied) {
  UniqueDLPack managed = ToDLPackUnordered(tensor, copied);
  void* made = nullptr;
  int failed;
  {
    const DeletionMark mark(managed.get());
    failed = target.exchange_function()(managed.get(), &made);
    if (failed == 0 || mark.deleted()) (void)managed.release();
  }
  return failed == 0 ? static_cast<PyObject*>(made) : nullptr;
}

PyObject* MakeOf(const Target& target, PyObject* tensor) {
  switch (target.door) {
    case TargetDoor::kOwn:
      return Py_NewRef(tensor);
    case TargetDoor::kNumPy:
      return NumPyMethod(tensor, nullptr);
    case TargetDoor::kExchangeApi:
    case TargetDoor::kFunction:
      return CallFunction(target, tensor);
  }
  return nullptr;
}

// With an error in flight, which not every producer's deleter heeds.
template <typename T>
std::nullptr_t LetGo(T* held) {
  nb::error_scope in_flight;
  *held = T();
  return nullptr;
}

PyObject* Make(const Target& target, Tensor&& tensor, bool copied) {
  if (HasExchangeApi(target, tensor)) return ByExchangeApi(target, tensor, copied);
  nb::object object = nb::steal(WrapTensor(std::move(tensor)));
  if (!object.is_valid()) return nullptr;
  PyObject* made = MakeOf(target, object.ptr());
  return made != nullptr ? made : LetGo(&object);
}

PyObject* NoTarget(PyObject* target) {
  PyErr_Format(PyExc_TypeError,
               "convert() has no way to make a %R. It knows %s; register_converter() adds others",
               target, TargetNames());
  return nullptr;
}

PyObject* ByRegistered(PyObject* x, PyObject* target, std::optional<bool> copy,
                       ConvertTrace* trace) {
  PyObject* function =
      registered == nullptr ? nullptr : PyDict_GetItemWithError(registered, target);
  if (function == nullptr) return PyErr_Occurred() ? nullptr : NoTarget(target);
  nb::object held = nb::borrow(function);
  Tensor tensor;
  if (!TakeIn(x, copy, trace, &tensor)) return nullptr;
  if (copy.value_or(false) && !ReplaceByCopy(tensor.device(), &tensor)) return nullptr;
  nb::object object = nb::steal(WrapTensor(std::move(tensor)));
  if (!object.is_valid()) return nullptr;
  return HangAtThreadEnd([&] { return PyObject_CallOneArg(function, object.ptr()); });
}

// NumPy takes all that PyTorch has on the CPU, so that nothing need be asked. nullptr without an
// error where the usual way has to be taken.
PyObject* TorchToNumPy(PyObject* x) {
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return nullptr;
  const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(self));
  return ImportTorchTensor(x, &self->tensor) == ExchangeResult::kDone
             ? MakeNumPyArray(self->tensor.view(), owner.ptr())
             : nullptr;
}

// By one step, for the pairs that allow it; nullptr as above.
PyObject* ConvertDirectly(PyObject* x, const Target& target) {
  switch (target.door) {
    case TargetDoor::kNumPy:
      return torch_tensor.Is(Py_TYPE(x)) ? TorchToNumPy(x) : nullptr;
    case TargetDoor::kExchangeApi:
      return numpy_ndarray.Is(Py_TYPE(x)) ? LendNumPyArray(target, x) : nullptr;
    case TargetDoor::kOwn:
    case TargetDoor::kFunction:
      return nullptr;
  }
  return nullptr;
}

PyObject* Convert(PyObject* x, PyObject* target_class, std::optional<bool> copy,
                  ConvertTrace* trace = nullptr) {
  if (!PyType_Check(target_class)) {
    PyErr_Format(PyExc_TypeError, "convert() takes a class to convert to, not %R", target_class);
    return nullptr;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(target_class);
  const bool may_share = !copy.value_or(false);
  if (Py_TYPE(x) == type && may_share) return Py_NewRef(x);
  const Target* target = FindTarget(type);
  if (target == nullptr) return ByRegistered(x, target_class, copy, trace);
  DrainPendingReleases();
  if (may_share && trace == nullptr) {
    PyObject* made = ConvertDirectly(x, *target);
    if (made != nullptr || PyErr_Occurred()) return made;
  }
  Tensor tensor;
  bool copied;
  if (!TakeIn(x, copy, trace, &tensor) || !Fit(*target, copy, trace, &tensor, &copied)) {
    return LetGo(&tensor);
  }
  return Make(*target, std::move(tensor), copied);
}

}  // namespace

PyObject* ConvertFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (nargs == 2 && kwnames == nullptr) return Convert(args[0], args[1], std::nullopt);
  static const Signature kSignature("convert", 2, 2, {"x", "target", "copy"},
                                    /*positional_only=*/2);
  PyObject* v[3];
  std::optional<bool> copy;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseOptionalBool(v[2], "copy", &copy)) {
    return nullptr;
  }
  return Convert(v[0], v[1], copy);
}

PyObject* ConvertTraced(PyObject* x, PyObject* target, std::optional<bool> copy,
                        ConvertTrace* trace) {
  PyObject* made = Convert(x, target, copy, trace);
  // One of the class already, which may be no tensor.
  if (made == x && trace->tensor.is_null() && !TakeIn(x, {}, trace, &trace->tensor)) PyErr_Clear();
  return made;
}

PyObject* RegisterConverter(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyType_Check(args[0]) || !PyCallable_Check(args[1])) {
    return Raise(PyExc_TypeError,
                 "register_converter() takes a class and a function that makes one of a "
                 "dovetail.Tensor");
  }
  if (FindTarget(reinterpret_cast<PyTypeObject*>(args[0])) != nullptr) {
    PyErr_Format(PyExc_ValueError, "convert() makes %R itself", args[0]);
    return nullptr;
  }
  if (registered == nullptr && (registered = PyDict_New()) == nullptr) return nullptr;
  if (PyDict_SetItem(registered, args[0], args[1]) != 0) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
