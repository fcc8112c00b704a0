#include "dovetail/python/module/functions/convert.h"
#include "dovetail/python/module/functions/functions.h"

#include <nanobind/nanobind.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/class_name.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/peers/numpy_out.h"
#include "dovetail/python/exchange/peers/torch/torch_in.h"
#include "dovetail/python/exchange/routes/export_object.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/numpy_lend.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/functions/convert_steps.h"
#include "dovetail/python/module/functions/convert_unknown.h"
#include "dovetail/python/module/functions/named_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyObject* CallFunction(const Peer& peer, PyObject* tensor) {
  const nb::object function = nb::steal(NewFunction(peer.function));
  if (!function.is_valid()) return nullptr;
  PyObject* const made =
      HangAtThreadEnd([&] { return PyObject_CallOneArg(function.ptr(), tensor); });
  return made != nullptr ? made : RaiseOfConsumer(peer.type.module());
}

PyObject* MakeOf(const Peer& peer, PyObject* tensor) {
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

PyObject* Make(const Peer& peer, Tensor&& tensor, bool copied) {
  if (HasExchangeApi(peer, tensor)) {
    PyObject* const made = ExportByExchangeApi(peer, tensor, copied);
    if (made != nullptr) return made;
    RaiseOfConsumer(peer.type.module());
    return LetGo(&tensor);
  }
  nb::object object = nb::steal(WrapTensor(std::move(tensor)));
  if (!object.is_valid()) return nullptr;
  PyObject* made = MakeOf(peer, object.ptr());
  return made != nullptr ? made : LetGo(&object);
}

// NumPy takes all that PyTorch has on the CPU, so that nothing need be asked. nullptr without an
// error where the usual way has to be taken.
PyObject* TorchToNumPy(PyObject* x) {
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return nullptr;
  const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(self));
  return ImportTorchTensor(x, &self->tensor) == ExchangeResult::kDone &&
                 self->tensor.device().type == DeviceType::kCpu
             ? MakeNumPyArray(self->tensor.view(), owner.ptr())
             : nullptr;
}

// Converts in one step if the table names the pair; nullptr as above.
PyObject* ConvertDirectly(PyObject* x, const Peer& peer) {
  if (peer.direct_from == nullptr || !peer.direct_from->Is(Py_TYPE(x))) return nullptr;
  if (peer.way_out == WayOut::kNumPy) return TorchToNumPy(x);
  PyObject* const made = LendNumPyArray(peer, x);
  return made == nullptr && PyErr_Occurred() ? RaiseOfConsumer(peer.type.module()) : made;
}

PyObject* ConvertToName(PyObject* x, PyObject* name, std::optional<bool> copy, ConvertTrace* trace);

PyObject* Convert(PyObject* x, PyObject* target_class, std::optional<bool> copy,
                  ConvertTrace* trace) {
  if (!PyType_Check(target_class)) [[unlikely]] {
    return ConvertToName(x, target_class, copy, trace);
  }
  auto* type = reinterpret_cast<PyTypeObject*>(target_class);
  const bool may_share = !copy.value_or(false);
  if (Py_TYPE(x) == type && may_share) return Py_NewRef(x);
  const Peer* peer = FindPeer(type);
  if (peer == nullptr) return ConvertToUnknown(x, type, copy, trace);
  if (peer->objects != nullptr && may_share && peer->objects->Is(Py_TYPE(x))) return Py_NewRef(x);
  DrainPendingReleases();
  if (may_share && trace == nullptr) {
    PyObject* made = ConvertDirectly(x, *peer);
    if (made != nullptr || PyErr_Occurred()) return made;
  }
  Tensor tensor;
  bool copied;
  const auto name = [peer] { return absl::StrCat(peer->type.module(), ".", peer->type.name()); };
  if (!TakeIn(x, copy, trace, &tensor) ||
      !Fit(peer->accepts, name, copy, trace, &tensor, &copied)) {
    return LetGo(&tensor);
  }
  return Make(*peer, std::move(tensor), copied);
}

// To the class that a library's name stands for.
PyObject* ConvertToName(PyObject* x, PyObject* name, std::optional<bool> copy,
                        ConvertTrace* trace) {
  if (!PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError,
                 "convert() takes a class to convert to, or a library's name, not %R", name);
    return nullptr;
  }
  const nb::object found = FindNamedClass(name);
  return found.is_valid() ? Convert(x, found.ptr(), copy, trace) : nullptr;
}

[[gnu::noinline, gnu::cold]] PyObject* TellOfConvert(PyObject* x, PyObject* target,
                                                     std::optional<bool> copy) {
  TracedExchange traced(TraceKind::kConvert, x);
  ConvertTrace facts;
  PyObject* made = Convert(x, target, copy, &facts);
  if (facts.import.way != nullptr) traced.set_way(facts.import.way);
  if (made == nullptr) {
    traced.Failed();
    return nullptr;
  }
  traced.set_target(ClassName(Py_TYPE(made)));
  if (made == x) {
    traced.set_reason("it is one already");
  } else if (facts.misfit != nullptr) {
    traced.set_reason(facts.misfit);
  } else if (facts.target_copied) {
    traced.set_reason("its library copied it, or does not show where it is");
  }
  traced.Done(facts.tensor, facts.import.producer_copied || facts.target_copied);
  return made;
}

// Tells a trace of the conversion.
PyObject* Convert(PyObject* x, PyObject* target, std::optional<bool> copy) {
  if (IsObserved()) [[unlikely]]
    return TellOfConvert(x, target, copy);
  return Convert(x, target, copy, nullptr);
}

}  // namespace

PyObject* ConvertFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (nargs == 2 && kwnames == nullptr) return Convert(args[0], args[1], std::nullopt);
  static constinit const Signature kSignature("convert", 2, 2, {"x", "target", "copy"},
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

}  // namespace dovetail::python
