#include "dovetail/python/exchange/peers/torch/torch_functions.h"

#include <dlfcn.h>

namespace dovetail::python {
namespace {

TorchFunctions Find() {
  TorchFunctions found{};
  found.is_complete = true;
  const auto find = [&found]<typename Function>(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(FindTorchSymbol("libtorch_cpu.so", name));
    found.is_complete = found.is_complete && *function != nullptr;
  };
  find("aoti_torch_get_dim", &found.get_dim);
  find("aoti_torch_get_sizes", &found.get_sizes);
  find("aoti_torch_get_strides", &found.get_strides);
  find("aoti_torch_get_dtype", &found.get_dtype);
  find("aoti_torch_get_data_ptr", &found.get_data_ptr);
  find("aoti_torch_get_storage_offset", &found.get_storage_offset);
  find("aoti_torch_get_storage_size", &found.get_storage_size);
  find("aoti_torch__reinterpret_tensor", &found.reinterpret_tensor);
  find("aoti_torch_delete_tensor_object", &found.delete_tensor_object);
  return found;
}

}  // namespace

const TorchFunctions& FindTorchFunctions() {
  static const TorchFunctions found = Find();
  return found;
}

void* FindTorchSymbol(const char* library, const char* name) {
  void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);  // PyTorch's own, if it has one
  return loaded == nullptr ? nullptr : dlsym(loaded, name);
}

}  // namespace dovetail::python
