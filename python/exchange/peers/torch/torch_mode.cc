#include "dovetail/python/exchange/peers/torch/torch_mode.h"

#include <Python.h>
#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/error.h"
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

}  // namespace dovetail::python
