#include "dovetail/python/module/functions/functions.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/array_interface.h"
#include "dovetail/python/exchange/protocols/arrow.h"
#include "dovetail/python/exchange/protocols/sycl.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/functions/traced_new_tensor.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

// Makes the object first: nothing may fail after the tensor was imported.
template <typename Fill>
PyObject* WrapImported(Fill fill) {
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return nullptr;
  if (fill(&self->tensor)) {
    TrackOwner(self);
    return reinterpret_cast<PyObject*>(self);
  }
  Py_DECREF(self);
  return nullptr;
}

template <auto kImport>
PyObject* FromAttribute(PyObject* x, const char* name) {
  const auto import = [=](Tensor* tensor) {
    const ExchangeResult result = kImport(x, tensor);
    if (result == ExchangeResult::kNotTaken) {
      PyErr_Format(PyExc_AttributeError, "'%.200s' object has no attribute '%s'",
                   Py_TYPE(x)->tp_name, name);
    }
    return result == ExchangeResult::kDone;
  };
  return TracedNewTensor(name, x, [=] { return WrapImported(import); });
}

}  // namespace

PyObject* FromDLPackFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  if (nargs == 1 && kwnames == nullptr) {
    return WrapImported([&](Tensor* tensor) { return ImportTensor(args[0], tensor); });
  }
  static constinit const Signature kSignature("from_dlpack", 1, 1, {"x", "device", "copy"},
                                              /*positional_only=*/1);
  PyObject* v[3];
  ImportRequest request;
  if (!kSignature.Parse(args, nargs, kwnames, v) ||
      !ParseOptionalBool(v[2], "copy", &request.copy) ||
      (IsGiven(v[1]) && !ParseDevice(v[1], &request.device.emplace()))) {
    return nullptr;
  }
  return WrapImported([&](Tensor* tensor) { return ImportTensor(v[0], request, tensor); });
}

PyObject* FromArrowFunction(PyObject*, PyObject* x) {
  return TracedNewTensor("Arrow", x, [=] {
    return WrapImported([=](Tensor* tensor) { return ImportArrow(x, tensor); });
  });
}

PyObject* FromArrayInterface(PyObject*, PyObject* x) {
  return FromAttribute<&ImportByArrayInterface>(x, "__array_interface__");
}

PyObject* FromCudaArrayInterface(PyObject*, PyObject* x) {
  return FromAttribute<&ImportByCudaArrayInterface>(x, "__cuda_array_interface__");
}

PyObject* FromUsmArrayInterface(PyObject*, PyObject* x) {
  return FromAttribute<&ImportByUsmArrayInterface>(x, "__sycl_usm_array_interface__");
}

}  // namespace dovetail::python
