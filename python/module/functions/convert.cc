#include "dovetail/python/module/functions/convert.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/lifetime/owner.h"
#include "dovetail/python/exchange/lifetime/thread_end.h"
#include "dovetail/python/exchange/numpy/numpy_out.h"
#include "dovetail/python/exchange/routes/export_object.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/numpy_lend.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/torch/torch_in.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/tensor/numpy_methods.h"
#include "dovetail/python/module/tensor/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyObject* registered = nullptr;  // a dict: class → function of a dovetail.Tensor

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
bool Fit(const PeerClass& peer, std::optional<bool> copy, ConvertTrace* trace, Tensor* tensor,
         bool* copied) {
  const char* misfit = FindMisfit(peer, *tensor);
  if (trace != nullptr) trace->misfit = misfit;
  *copied = misfit != nullptr || copy.value_or(false);
  if (!*copied) return true;
  if (copy == std::optional<bool>(false)) {
    RaiseExchange(absl::StrCat("A ", peer.type.module(), ".", peer.type.name(),
                               " can't share this memory: the tensor ", misfit,
                               ". copy=False forbids the copy that it takes."));
    return false;
  }
  return ReplaceByCopy(tensor->device(), tensor);
}

PyObject* CallFunction(const PeerClass& peer, PyObject* tensor) {
  nb::object module = nb::steal(PyImport_ImportModule(peer.function_module));
  if (!module.is_valid()) return nullptr;
  nb::object function = nb::steal(PyObject_GetAttrString(module.ptr(), peer.function));
  if (!function.is_valid()) return nullptr;
  return HangAtThreadEnd([&] { return PyObject_CallOneArg(function.ptr(), tensor); });
}

PyObject* MakeOf(const PeerClass& peer, PyObject* tensor) {
  switch (peer.way_out) {
    case WayOut::kOwn:
      return Py_NewRef(tensor);
    case WayOut::kNumPy:
      return NumPyMethod(tensor, nullptr);
    case WayOut::kExchangeApi:
    case WayOut::kFunction:
      return CallFunction(peer, tensor);
    case WayOut::kNone:
      break;
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

PyObject* Make(const PeerClass& peer, Tensor&& tensor, bool copied) {
  if (HasExchangeApi(peer, tensor)) return ExportByExchangeApi(peer, tensor, copied);
  nb::object object = nb::steal(WrapTensor(std::move(tensor)));
  if (!object.is_valid()) return nullptr;
  PyObject* made = MakeOf(peer, object.ptr());
  return made != nullptr ? made : LetGo(&object);
}

PyObject* NoTarget(PyObject* target) {
  PyErr_Format(PyExc_TypeError,
               "convert() has no way to make a %R. It knows %s; register_converter() adds others",
               target, PeerNames());
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

// Converts in one step if the table names the pair; nullptr as above.
PyObject* ConvertDirectly(PyObject* x, const PeerClass& peer) {
  if (peer.direct_from == nullptr || !peer.direct_from->Is(Py_TYPE(x))) return nullptr;
  return peer.way_out == WayOut::kNumPy ? TorchToNumPy(x) : LendNumPyArray(peer, x);
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
  const PeerClass* peer = FindPeer(type);
  if (peer == nullptr) return ByRegistered(x, target_class, copy, trace);
  DrainPendingReleases();
  if (may_share && trace == nullptr) {
    PyObject* made = ConvertDirectly(x, *peer);
    if (made != nullptr || PyErr_Occurred()) return made;
  }
  Tensor tensor;
  bool copied;
  if (!TakeIn(x, copy, trace, &tensor) || !Fit(*peer, copy, trace, &tensor, &copied)) {
    return LetGo(&tensor);
  }
  return Make(*peer, std::move(tensor), copied);
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
  if (FindPeer(reinterpret_cast<PyTypeObject*>(args[0])) != nullptr) {
    PyErr_Format(PyExc_ValueError, "convert() makes %R itself", args[0]);
    return nullptr;
  }
  if (registered == nullptr && (registered = PyDict_New()) == nullptr) return nullptr;
  if (PyDict_SetItem(registered, args[0], args[1]) != 0) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
