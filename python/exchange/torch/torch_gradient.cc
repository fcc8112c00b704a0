#include "dovetail/python/exchange/torch/torch_gradient.h"

#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/support/gil_guarded.h"
#include "dovetail/python/exchange/support/interned_name.h"
#include "dovetail/python/exchange/torch/torch_abi.h"
#include "dovetail/python/exchange/torch/torch_object.h"
#include "dovetail/python/exchange/torch/torch_symbol.h"

namespace dovetail::python {
namespace {

// bool c10::TensorImpl::requires_grad() const
using RequiresGrad = bool (*)(const void* impl);

// The function, if this PyTorch's objects have the layout that TorchImplOf() assumes.
RequiresGrad FindRequiresGrad(PyObject* x) {
  if (!HasTorchImpl(x)) return nullptr;
  return reinterpret_cast<RequiresGrad>(FindTorchSymbol(kC10, kRequiresGrad));
}

bool RequiresGradByAttribute(PyObject* x) {
  static constinit InternedName name("requires_grad");
  PyObject* value = PyObject_GetAttr(x, name.get());
  if (value == nullptr) ForgetException();
  const bool required = value != Py_False;
  Py_XDECREF(value);
  return required;
}

}  // namespace

bool TorchRequiresGrad(PyObject* x) {
  static constinit GilGuarded<bool> is_known(false);
  static constinit GilGuarded<RequiresGrad> known(nullptr);
  if (!is_known.load()) [[unlikely]] {
    known.store(FindRequiresGrad(x));
    is_known.store(true);
  }
  const RequiresGrad requires_grad = known.load();
  return requires_grad != nullptr ? requires_grad(TorchImplOf(x)) : RequiresGradByAttribute(x);
}

}  // namespace dovetail::python
