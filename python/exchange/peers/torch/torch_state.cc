#include "dovetail/python/exchange/peers/torch/torch_state.h"

#include <Python.h>
#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/peers/torch/torch_functions.h"
#include "dovetail/python/exchange/peers/torch/torch_private.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// c10::impl::TorchDispatchModeTLS::any_modes_set(bool skip_infra_modes)
using AnyModesSet = bool (*)(bool);
// at::impl::torch_function_mode_enabled()
using FunctionModeEnabled = bool (*)();

struct Modes {
  AnyModesSet any_modes_set =
      reinterpret_cast<AnyModesSet>(FindTorchSymbol("libc10.so", kAnyModesSet));
  FunctionModeEnabled function_mode_enabled = reinterpret_cast<FunctionModeEnabled>(
      FindTorchSymbol("libtorch_cpu.so", kFunctionModeEnabled));
};

// `module.name`, called if it is a function; None where there is none. Only an interrupt
// leaves its error set.
nb::object Ask(const char* module_name, const char* name) {
  nb::object key = nb::steal(PyUnicode_InternFromString(module_name));
  nb::object module = nb::steal(key.is_valid() ? PyImport_GetModule(key.ptr()) : nullptr);
  nb::object value =
      nb::steal(module.is_valid() ? PyObject_GetAttrString(module.ptr(), name) : nullptr);
  if (value.is_valid() && PyCallable_Check(value.ptr())) {
    value = nb::steal(PyObject_CallNoArgs(value.ptr()));
  }
  if (PyErr_Occurred() != nullptr) ForgetException();
  return value.is_valid() ? value : nb::none();
}

// The mark that PyTorch's Python side keeps: set while any thread is inside a mode.
bool DispatchIsMarked() {
  return Ask("torch.utils._python_dispatch", "_is_in_torch_dispatch_mode").ptr() != Py_False;
}

bool FunctionsAreMarked() {
  return PyErr_Occurred() != nullptr ||
         Ask("torch._C", "_is_torch_function_mode_enabled").ptr() != Py_False;
}

}  // namespace

bool TorchModeIsActive() {
  static const Modes modes;
  return (modes.any_modes_set != nullptr ? modes.any_modes_set(/*skip_infra_modes=*/false)
                                         : DispatchIsMarked()) ||
         (modes.function_mode_enabled != nullptr ? modes.function_mode_enabled()
                                                 : FunctionsAreMarked());
}

bool TorchIsTracing() {
  // A reference to a std::shared_ptr, whose first word is the pointer.
  using TracingState = void* const* (*)();
  static const auto tracing_state =
      reinterpret_cast<TracingState>(FindTorchSymbol("libtorch_cpu.so", kTracingState));
  return tracing_state != nullptr ? *tracing_state() != nullptr
                                  : Ask("torch._C", "_is_tracing").ptr() == Py_True;
}

namespace {

constinit InternedName requires_grad("requires_grad");

// The getter of the class's attribute, which is called as the interpreter calls it; nullptr if the
// attribute is no C getter.
const PyGetSetDef* FindGetter(PyTypeObject* type) {
  PyObject* descriptor = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), requires_grad.get());
  if (descriptor == nullptr) {
    ForgetException();
    return nullptr;
  }
  const PyGetSetDef* getter = nullptr;
  if (Py_IS_TYPE(descriptor, &PyGetSetDescr_Type) &&
      PyType_IsSubtype(type, PyDescr_TYPE(descriptor))) {
    getter = reinterpret_cast<PyGetSetDescrObject*>(descriptor)->d_getset;
  }
  Py_DECREF(descriptor);
  return getter;
}

// By the getter of the class, which is called as the interpreter calls it.
bool AskRequiresGrad(PyObject* x) {
  static constinit GilGuarded<const PyGetSetDef*> known(nullptr);
  const PyGetSetDef* getter = known.load();
  if (getter == nullptr) [[unlikely]] {
    getter = FindGetter(Py_TYPE(x));
    if (PyErr_Occurred() != nullptr) return true;
    known.store(getter);
  }
  PyObject* const value = getter != nullptr ? getter->get(x, getter->closure)
                                            : PyObject_GetAttr(x, requires_grad.get());
  if (value == nullptr) ForgetException();
  const bool required = value != Py_False;
  Py_XDECREF(value);
  return required;
}

using RequiresGrad = bool (*)(const char* impl);

RequiresGrad FindRequiresGrad() {
  static const auto found =
      reinterpret_cast<RequiresGrad>(FindTorchSymbol("libc10.so", kRequiresGrad));
  return found;
}

bool RequiresGradIsAsAssumed() {
  const RequiresGrad requires_grad = FindRequiresGrad();
  if (requires_grad == nullptr || !TorchHandlesAreKnown()) return false;
  const nb::object tensors = EvaluateTorch(
      "[torch.zeros(1, device='cpu'), torch.zeros(1, device='cpu', requires_grad=True), "
      "torch.zeros(1, device='cpu', requires_grad=True) * 2, torch.zeros(1, dtype=torch.int64)]");
  if (!tensors.is_valid() || !PyList_Check(tensors.ptr())) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tensors.ptr()); ++i) {
    PyObject* const x = PyList_GET_ITEM(tensors.ptr(), i);
    if (requires_grad(TorchImplOf(x)) != (i == 1 || i == 2)) return false;
  }
  return true;
}

}  // namespace

bool TorchRequiresGradIsKnown() {
  static constinit TorchAssumption assumption(&RequiresGradIsAsAssumed);
  return assumption.Holds();
}

bool TorchRequiresGrad(PyObject* x) {
  if (TorchRequiresGradIsKnown()) [[likely]]
    return FindRequiresGrad()(TorchImplOf(x));
  return PyErr_Occurred() != nullptr || AskRequiresGrad(x);
}

namespace {

using BumpVersion = void (*)(TorchHandle);

BumpVersion FindBumpVersion() {
  static const auto found =
      reinterpret_cast<BumpVersion>(FindTorchSymbol("libtorch_cpu.so", kBumpVersion));
  return found;
}

// The count that PyTorch tells of a tensor; −1 if it does not.
long VersionOf(PyObject* x) {
  const nb::object version = nb::steal(PyObject_GetAttrString(x, "_version"));
  const long value = version.is_valid() ? PyLong_AsLong(version.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) ForgetException();
  return value;
}

bool WritesAreAsAssumed() {
  const BumpVersion bump = FindBumpVersion();
  if (bump == nullptr || !TorchHandlesAreKnown()) return false;
  const nb::object x = EvaluateTorch("torch.zeros(2, device='cpu')");
  if (!x.is_valid()) return false;
  const long before = VersionOf(x.ptr());
  bump(TorchHandleOf(x.ptr()));
  return before >= 0 && VersionOf(x.ptr()) == before + 1;
}

bool IsTrue(PyObject* x, const char* method) {
  const nb::object answer = nb::steal(PyObject_CallMethod(x, method, nullptr));
  if (!answer.is_valid()) ForgetException();
  return answer.ptr() == Py_True;
}

// PyTorch's published function, which takes 200 ns. It counts nothing of a tensor of inference
// mode.
bool AskToCount(PyObject* x) {
  if (IsTrue(x, "is_inference") && Ask("torch", "is_inference_mode_enabled").ptr() != Py_True) {
    Raise(
        PyExc_RuntimeError,
        "Inplace update to inference tensor outside InferenceMode is not allowed. Pass a clone().");
    return false;
  }
  const nb::object module = nb::steal(PyImport_ImportModule("torch.autograd.graph"));
  const nb::object done = nb::steal(
      module.is_valid() ? PyObject_CallMethod(module.ptr(), "increment_version", "O", x) : nullptr);
  return done.is_valid();
}

}  // namespace

bool TorchWritesAreKnown() {
  static constinit TorchAssumption assumption(&WritesAreAsAssumed);
  return assumption.Holds();
}

bool CountTorchWrite(PyObject* x) {
  if (!IsPlainTorch(x) || !TorchWritesAreKnown()) {
    return PyErr_Occurred() == nullptr && AskToCount(x);
  }
  FindBumpVersion()(TorchHandleOf(x));
  return true;
}

void CountTorchWrite(TorchHandle handle) {
  if (const BumpVersion bump = FindBumpVersion(); bump != nullptr) bump(handle);
}

bool TorchGradientsAreOn() {
  static const auto is_enabled = reinterpret_cast<bool (*)()>(
      FindTorchSymbol("libtorch_cpu.so", "aoti_torch_grad_mode_is_enabled"));
  if (is_enabled != nullptr) return is_enabled();
  return Ask("torch", "is_grad_enabled").ptr() != Py_False;
}

namespace {

// The keys of a plain tensor on the CPU, and those of the last other tensor that PyTorch said to
// have no mark: of a GPU or of inference mode, as a rule. No tensor has the keys 0.
constinit GilGuarded<uint64_t> plain_keys{0};
constinit GilGuarded<uint64_t> other_keys_without_mark{0};

constexpr char kPlain[] =
    "[torch.zeros(3, dtype=d, device='cpu')[1:] for d in (torch.bool, torch.uint8, torch.int64, "
    "torch.bfloat16, torch.float32, torch.complex64)] + [torch.zeros(0, device='cpu'), "
    "torch.zeros((), device='cpu'), torch.zeros(2, 3, device='cpu').mT, "
    "torch.zeros(2, device='cpu').expand(3, 2), torch.frombuffer(bytearray(9), dtype=torch.int8)]";
constexpr char kMarked[] =
    "[torch.zeros(2, dtype=torch.complex64, device='cpu').conj(), "
    "torch._neg_view(torch.zeros(2, device='cpu')), "
    "torch._neg_view(torch.zeros(2, dtype=torch.complex64, device='cpu').conj()), "
    "torch._to_functional_tensor(torch.zeros(2, device='cpu')), "
    "torch._efficientzerotensor(2, device='cpu'), "
    "torch.zeros(2, device='cpu').to_sparse(), torch.zeros(2, device='meta')]";

// How many tensors of the list that `expression` gives have the keys; −1 if not all can be asked.
Py_ssize_t CountWithKeys(const char* expression, uint64_t keys, Py_ssize_t* length) {
  const nb::object list = EvaluateTorch(expression);
  if (!list.is_valid() || !PyList_Check(list.ptr())) return -1;
  *length = PyList_GET_SIZE(list.ptr());
  Py_ssize_t count = 0;
  for (Py_ssize_t i = 0; i < *length; ++i) {
    count += TorchKeysOf(PyList_GET_ITEM(list.ptr(), i)) == keys ? 1 : 0;
  }
  return count;
}

bool KeysAreAsAssumed() {
  if (!TorchHandlesAreKnown()) return false;
  const nb::object first = EvaluateTorch("torch.zeros(1, device='cpu')");
  if (!first.is_valid()) return false;
  const uint64_t keys = TorchKeysOf(first.ptr());
  Py_ssize_t length = 0;
  if (keys == 0 || CountWithKeys(kPlain, keys, &length) != length ||
      CountWithKeys(kMarked, keys, &length) != 0) {
    return false;
  }
  plain_keys.store(keys);
  return true;
}

bool IsMarked(PyObject* x, PyObject* method) {
  PyObject* answer = PyObject_CallMethodNoArgs(x, method);
  if (answer == nullptr) ForgetException();
  const bool is_marked = answer != Py_False;
  Py_XDECREF(answer);
  return is_marked;
}

}  // namespace

bool TorchKeysAreKnown() {
  static constinit TorchAssumption assumption(&KeysAreAsAssumed);
  return assumption.Holds();
}

bool IsPlainTorch(PyObject* x) {
  return TorchKeysAreKnown() && TorchKeysOf(x) == plain_keys.load();
}

TorchMark AskTorchMark(PyObject* x) {
  static constinit InternedName is_conj("is_conj");
  static constinit InternedName is_neg("is_neg");
  if (IsMarked(x, is_conj.get()) || PyErr_Occurred() != nullptr) return TorchMark::kConjugate;
  return IsMarked(x, is_neg.get()) ? TorchMark::kNegative : TorchMark::kNone;
}

TorchMark FindTorchMark(PyObject* x) {
  const uint64_t keys = TorchKeysAreKnown() ? TorchKeysOf(x) : 0;
  if (PyErr_Occurred() != nullptr) return TorchMark::kConjugate;
  if (keys != 0 && keys == other_keys_without_mark.load()) return TorchMark::kNone;
  const TorchMark mark = AskTorchMark(x);
  if (mark == TorchMark::kNone && PyErr_Occurred() == nullptr) other_keys_without_mark.store(keys);
  return mark;
}

}  // namespace dovetail::python
