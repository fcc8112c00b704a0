#include "dovetail/python/exchange/torch/torch_symbol.h"

#include <dlfcn.h>

namespace dovetail::python {

void* FindTorchSymbol(const char* library, const char* mangled_name) {
  void* loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);  // PyTorch's own, if it has one
  return loaded == nullptr ? nullptr : dlsym(loaded, mangled_name);
}

}  // namespace dovetail::python
