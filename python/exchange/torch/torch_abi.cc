#include "dovetail/python/exchange/torch/torch_abi.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/torch/torch_lazy.h"
#include "dovetail/python/exchange/torch/torch_object.h"
#include "dovetail/python/exchange/torch/torch_plain.h"
#include "dovetail/python/exchange/torch/torch_storage.h"
#include "dovetail/python/exchange/torch/torch_symbol.h"

namespace nb = nanobind;

namespace dovetail::python {

PyObject* CheckTorchAssumptions() {
  const nb::object tensor = EvaluateTorch("torch.zeros(1)");
  const nb::object result = nb::steal(PyDict_New());
  if (!tensor.is_valid() || !result.is_valid()) return nullptr;
  const auto note = [&](const char* assumption, bool holds) {
    return PyErr_Occurred() == nullptr &&
           PyDict_SetItemString(result.ptr(), assumption, holds ? Py_True : Py_False) == 0;
  };
  const auto exports = [](const char* library, const char* name) {
    return FindTorchSymbol(library, name) != nullptr;
  };
  const bool done =
      note("a torch.Tensor has its TensorImpl after the PyObject", HasTorchImpl(tensor.ptr())) &&
      note("libtorch_cpu.so exports aoti_torch_new_tensor_handle",
           exports(kTorchCpu, kCopyHandle)) &&
      note("libtorch_cpu.so exports aoti_torch_delete_tensor_object",
           exports(kTorchCpu, kDropHandle)) &&
      note(
          "TensorImpl has its Storage, and StorageImpl `resizable`, where torch_abi.h says; handles "
          "count storages",
          TorchStorageIsAsAssumed()) &&
      note(
          "TensorImpl has its dispatch keys, with the conjugate and negative bits, where "
          "torch_abi.h says",
          TorchLazyIsAsAssumed()) &&
      note(
          "TensorImpl and StorageImpl have sizes, strides, type and data where torch_abi.h says; "
          "plain tensors have one set of dispatch keys",
          TorchPlainIsAsAssumed()) &&
      note("libc10.so exports TensorImpl::requires_grad", exports(kC10, kRequiresGrad)) &&
      note("libc10.so exports TorchDispatchModeTLS::any_modes_set", exports(kC10, kAnyModesSet)) &&
      note("libtorch_cpu.so exports torch_function_mode_enabled",
           exports(kTorchCpu, kFunctionModeEnabled));
  return done && PyErr_Occurred() == nullptr ? Py_NewRef(result.ptr()) : nullptr;
}

}  // namespace dovetail::python
