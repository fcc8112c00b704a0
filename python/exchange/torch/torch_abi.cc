#include "dovetail/python/exchange/torch/torch_abi.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/torch/torch_lazy.h"
#include "dovetail/python/exchange/torch/torch_object.h"
#include "dovetail/python/exchange/torch/torch_storage.h"
#include "dovetail/python/exchange/torch/torch_symbol.h"

namespace nb = nanobind;

namespace dovetail::python {

PyObject* CheckTorchAssumptions() {
  const nb::object tensor = nb::module_::import_("torch").attr("zeros")(1);
  const auto exports = [](const char* library, const char* name) {
    return FindTorchSymbol(library, name) != nullptr;
  };
  nb::dict result;
  result["a torch.Tensor has its TensorImpl after the PyObject"] = HasTorchImpl(tensor.ptr());
  result["libtorch_cpu.so exports aoti_torch_new_tensor_handle"] = exports(kTorchCpu, kCopyHandle);
  result["libtorch_cpu.so exports aoti_torch_delete_tensor_object"] =
      exports(kTorchCpu, kDropHandle);
  result
      ["TensorImpl has its Storage, and StorageImpl `resizable`, where torch_abi.h says; handles "
       "count storages"] = TorchStorageIsAsAssumed();
  result
      ["TensorImpl has its dispatch keys, with the conjugate and negative bits, where torch_abi.h "
       "says"] = TorchLazyIsAsAssumed();
  result["libc10.so exports TensorImpl::requires_grad"] = exports(kC10, kRequiresGrad);
  result["libc10.so exports TorchDispatchModeTLS::any_modes_set"] = exports(kC10, kAnyModesSet);
  result["libtorch_cpu.so exports torch_function_mode_enabled"] =
      exports(kTorchCpu, kFunctionModeEnabled);
  return PyErr_Occurred() == nullptr ? result.release().ptr() : nullptr;
}

}  // namespace dovetail::python
