#include "dovetail/python/module/tensor/methods.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/interop/array_interface/typestr.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/protocols/array_interface_out.h"
#include "dovetail/python/exchange/protocols/buffer_out.h"
#include "dovetail/python/exchange/protocols/cuda_array.h"
#include "dovetail/python/exchange/protocols/usm_array.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

std::nullptr_t RaiseAbsent(std::string_view why) {
  return Raise(PyExc_AttributeError, absl::StrCat("__array_interface__ is absent: ", why));
}

}  // namespace

PyObject* TensorArrayInterface(PyObject* self, void*) {
  const Tensor& tensor = AsTensor(self);
  const TracedExport traced("__array_interface__", self, tensor);
  if (NoCopiesScope::IsOn()) {
    return RaiseAbsent("in no_copies() NumPy has to say by __array__() whether it copies.");
  }
  if (!IsHostAccessible(tensor.device().type)) {
    return RaiseAbsent(internal_tensor::NotOnHostError(tensor.device()).message());
  }
  if (AsTensorObject(self)->requires_grad.load()) {
    return RaiseAbsent("the tensor requires gradient; use tensor.detach().");
  }
  absl::StatusOr<std::string> typestr = TypestrFromDType(tensor.dtype());
  if (!typestr.ok()) return RaiseAbsent(typestr.status().message());
  if (!ReadyHost(tensor)) return nullptr;
  return ArrayInterfaceDict(tensor, *typestr, AddressOf(tensor));
}

PyObject* TensorCudaArrayInterface(PyObject* self, void*) {
  const TracedExport traced("__cuda_array_interface__", self, AsTensor(self));
  PyObject* dict = ExportCudaArrayInterface(AsTensor(self));
  if (dict == nullptr || !AsTensorObject(self)->requires_grad.load()) return dict;
  Py_DECREF(dict);
  return RaiseRequiresGrad();
}

PyObject* TensorUsmArrayInterface(PyObject* self, void*) {
  const TracedExport traced("__sycl_usm_array_interface__", self, AsTensor(self));
  PyObject* dict = ExportUsmArrayInterface(AsTensor(self));
  if (dict == nullptr || !AsTensorObject(self)->requires_grad.load()) return dict;
  Py_DECREF(dict);
  return RaiseRequiresGrad();
}

}  // namespace dovetail::python
