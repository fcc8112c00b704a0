#include "dovetail/python/src/torch_mode.h"

#include <Python.h>
#include <dlfcn.h>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// c10::impl::TorchDispatchModeTLS::any_modes_set(bool skip_infra_modes), which PyTorch 2.1 to 2.13
// (at least) export.
using AnyModesSet = bool (*)(bool);

AnyModesSet FindAnyModesSet() {
  void* c10 = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);  // PyTorch's own, if it has one
  if (c10 == nullptr) return nullptr;
  return reinterpret_cast<AnyModesSet>(
      dlsym(c10, "_ZN3c104impl20TorchDispatchModeTLS13any_modes_setEb"));
}

// The mark that PyTorch's Python side keeps: set while any thread is inside a mode.
bool IsMarked() {
  static PyObject* const module_name = PyUnicode_InternFromString("torch.utils._python_dispatch");
  nb::object module = nb::steal(PyImport_GetModule(module_name));
  nb::object mark =
      module.is_valid()
          ? nb::steal(PyObject_GetAttrString(module.ptr(), "_is_in_torch_dispatch_mode"))
          : nb::object();
  PyErr_Clear();
  return mark.ptr() != Py_False;
}

}  // namespace

bool TorchModeIsActive() {
  static const AnyModesSet any_modes_set = FindAnyModesSet();
  return any_modes_set != nullptr ? any_modes_set(/*skip_infra_modes=*/false) : IsMarked();
}

}  // namespace dovetail::python
