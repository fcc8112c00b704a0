#include "dovetail/python/module/functions/convert.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/accepted_memory.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/exchange/peers/torch/torch_in.h"
#include "dovetail/python/exchange/routes/export_object.h"
#include "dovetail/python/exchange/routes/from_dlpack_function.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/functions/functions.h"
#include "dovetail/python/module/functions/named_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

bool ForbidsCopy(std::optional<bool> copy) { return !copy.value_or(true); }

// x as a tensor of ours.
bool TakeIn(PyObject* x, std::optional<bool> copy, ConvertTrace* trace, Tensor* tensor) {
  ImportRequest request;
  if (ForbidsCopy(copy)) request.copy = copy;  // other copies are made in Fit
  if (trace != nullptr) request.trace = &trace->import;
  if (!ImportAny(x, request, tensor)) return false;
  if (trace != nullptr) trace->tensor = *tensor;
  return true;
}

// The error of copy=False. `reason` follows "can't share this memory: ".
bool RaiseNotShared(std::string_view class_name, std::string_view reason) {
  RaiseExchange(absl::StrCat("A ", class_name, " can't share this memory: ", reason,
                             ". copy=False forbids the copy that it takes."));
  return false;
}

// Makes the tensor one that the library takes, by a copy if need be. `class_name` returns the name
// for an error.
template <typename ClassName>
bool Fit(const AcceptedMemory& accepts, ClassName class_name, std::optional<bool> copy,
         ConvertTrace* trace, Tensor* tensor, bool* copied) {
  const char* misfit = WhyRefused(accepts, *tensor);
  if (trace != nullptr) trace->misfit = misfit;
  *copied = misfit != nullptr || copy.value_or(false);
  if (!*copied) return true;
  if (!HeedNoCopies(&copy)) return false;
  if (ForbidsCopy(copy)) return RaiseNotShared(class_name(), absl::StrCat("the tensor ", misfit));
  return ReplaceByCopy(tensor->device(), tensor);
}

// Makes the error that a library's function raised for our tensor an ExchangeError. MemoryError,
// ExchangeError, ImportError (the library is not there) and what is no Exception stay unchanged.
std::nullptr_t RaiseOfConsumer(std::string_view library) {
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError) ||
      PyErr_ExceptionMatches(PyExc_ImportError) || PyErr_ExceptionMatches(ExchangeError())) {
    return nullptr;
  }
  return RaiseExchangeFromSet(absl::StrCat(library, " does not take the tensor"));
}

// With an error in flight, which not every producer's deleter heeds.
template <typename T>
std::nullptr_t LetGo(T* held) {
  nb::error_scope in_flight;
  *held = T();
  return nullptr;
}

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
PyObject* ConvertToUnknown(PyObject* x, PyTypeObject* target, std::optional<bool> copy,
                           ConvertTrace* trace);

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

namespace {

PyObject* registered = nullptr;  // a dict: class → function of a dovetail.Tensor

PyObject* NoTarget(PyTypeObject* target) {
  PyErr_Format(PyExc_TypeError,
               "convert() has no way to make a %R: its library has no from_dlpack(). It knows %s; "
               "register_converter() adds others",
               target, PeerNames());
  return nullptr;
}

// Its library makes none of a subclass (torch.nn.Parameter).
PyObject* IsSubclass(PyTypeObject* target, const Peer& base) {
  PyErr_Format(PyExc_TypeError,
               "convert() makes a %s.%s, and no %R, which is a subclass; register_converter() adds "
               "others",
               base.type.module(), base.type.name(), target);
  return nullptr;
}

// A call of a function of another library with the tensor.
nb::object CallWith(PyObject* function, Tensor tensor) {
  const nb::object object = nb::steal(WrapTensor(std::move(tensor)));
  if (!object.is_valid()) return {};
  return nb::steal(HangAtThreadEnd([&] { return PyObject_CallOneArg(function, object.ptr()); }));
}

PyObject* ByRegistered(PyObject* x, PyObject* function, std::optional<bool> copy,
                       ConvertTrace* trace) {
  Tensor tensor;
  if (!TakeIn(x, copy, trace, &tensor)) return nullptr;
  if (copy.value_or(false) && !ReplaceByCopy(tensor.device(), &tensor)) return nullptr;
  return CallWith(function, std::move(tensor)).release().ptr();
}

// The result of the library's function. What refuses strides gets a copy without them.
nb::object MakeByFunction(PyObject* function, std::optional<bool> copy, ConvertTrace* trace,
                          Tensor* tensor) {
  nb::object made = CallWith(function, *tensor);
  if (made.is_valid() || tensor->is_contiguous() || ForbidsCopy(copy) || !ForgetException()) {
    return made;
  }
  if (!ReplaceByCopy(tensor->device(), tensor)) return {};
  if (trace != nullptr) trace->misfit = "is not contiguous, which it asks for";
  return CallWith(function, *tensor);
}

bool CheckClass(PyObject* made, PyTypeObject* target, PyObject* function) {
  const int is_one = PyObject_IsInstance(made, reinterpret_cast<PyObject*>(target));
  if (is_one == 0) {
    PyErr_Format(PyExc_TypeError,
                 "%R made a %.200s, not a %R; register_converter() takes a function that does",
                 function, Py_TYPE(made)->tp_name, target);
  }
  return is_one > 0;
}

// Whether the result has the tensor's memory. What does not show its memory counts as a copy. False
// with an error set if an interrupt stopped the check.
bool FindWhetherShared(PyObject* made, const Tensor& tensor, bool* shared) {
  *shared = false;
  Tensor again;
  const auto always = [](PyObject*) { return true; };
  if (!ImportAny(made, {.is_unordered = always}, &again)) return ForgetException();
  *shared = tensor.nbytes() == 0 ||
            (again.device() == tensor.device() && again.raw_data() == tensor.raw_data());
  return true;
}

// The end of a conversion whose result must not be a copy, or is to be explained.
bool CheckShared(PyObject* made, PyTypeObject* target, const Tensor& tensor,
                 std::optional<bool> copy, ConvertTrace* trace) {
  bool shared;
  if (!FindWhetherShared(made, tensor, &shared)) return false;
  if (trace != nullptr) trace->target_copied = !shared;
  return shared || !ForbidsCopy(copy) ||
         RaiseNotShared(ClassName(target), "its library copied it, or does not show where it is");
}

PyObject* ByLibrary(PyObject* x, PyTypeObject* target, PyObject* function, std::optional<bool> copy,
                    ConvertTrace* trace) {
  Tensor tensor;
  bool copied;
  if (!TakeIn(x, copy, trace, &tensor) ||
      !Fit(kUnknownLibrary, [&] { return ClassName(target); }, copy, trace, &tensor, &copied)) {
    return LetGo(&tensor);
  }
  nb::object made = MakeByFunction(function, copy, trace, &tensor);
  if (!made.is_valid() || !CheckClass(made.ptr(), target, function)) return LetGo(&tensor);
  const bool is_checked = ForbidsCopy(copy) || trace != nullptr;
  if (is_checked && !CheckShared(made.ptr(), target, tensor, copy, trace)) {
    LetGo(&made);
    return LetGo(&tensor);
  }
  return made.release().ptr();
}

// To a class that is not in the table. TypeError for one with neither function.
PyObject* ConvertToUnknown(PyObject* x, PyTypeObject* target, std::optional<bool> copy,
                           ConvertTrace* trace) {
  if (!HeedNoCopies(&copy)) return nullptr;
  auto* const key = reinterpret_cast<PyObject*>(target);
  nb::object known;
  if (!FindItem(registered, key, &known)) return nullptr;
  if (known.is_valid()) return ByRegistered(x, known.ptr(), copy, trace);
  if (const Peer* base = FindPeerOrBase(target)) return IsSubclass(target, *base);
  nb::object function;
  if (!FindFromDLPack(target, &function)) return nullptr;
  if (!function.is_valid()) return NoTarget(target);
  return ByLibrary(x, target, function.ptr(), copy, trace);
}

}  // namespace

bool MakeConverterTable() {
  registered = PyDict_New();
  return registered != nullptr;
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
  if (PyDict_SetItem(registered, args[0], args[1]) != 0) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
