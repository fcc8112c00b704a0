#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/interop/array_interface/typestr.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/protocols/array_interface.h"
#include "dovetail/python/exchange/protocols/arrow.h"
#include "dovetail/python/exchange/protocols/buffer.h"
#include "dovetail/python/exchange/protocols/sycl.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/slots.h"

namespace dovetail::python {
namespace {

constexpr char kRequestedSchema[] = "requested_schema";

template <typename Array>
PyObject* Export(PyObject* self, PyObject* requested_schema) {
  const TracedExport traced("Arrow", self, AsTensor(self));
  if (AsTensorObject(self)->requires_grad.load()) return RaiseRequiresGrad();
  return ExportArrow<Array>(AsTensor(self), requested_schema);
}

}  // namespace

PyObject* TensorArrowArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames) {
  static constinit const Signature kSignature("__arrow_c_array__", 1, 0, {kRequestedSchema});
  PyObject* requested_schema;
  if (!kSignature.Parse(args, nargs, kwnames, &requested_schema)) return nullptr;
  return Export<ArrowArray>(self, requested_schema);
}

PyObject* TensorArrowDeviceArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames) {
  static constinit const Signature kSignature("__arrow_c_device_array__", 1, 0, {kRequestedSchema});
  PyObject* requested_schema;
  if (!kSignature.Parse(args, nargs, nullptr, &requested_schema)) return nullptr;
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, i);
    PyObject* value = args[nargs + i];
    if (PyUnicode_CompareWithASCIIString(name, kRequestedSchema) == 0 && nargs == 0) {
      requested_schema = value;
    } else if (value != Py_None) {
      return PyErr_Format(PyExc_NotImplementedError,
                          "__arrow_c_device_array__() does not know the keyword '%U'", name);
    }
  }
  return Export<ArrowDeviceArray>(self, requested_schema);
}

namespace {

// Whether this thread makes a PickleBuffer, which shares.
thread_local constinit bool makes_pickle_buffer = false;

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  if (AsTensorObject(self)->requires_grad.load()) return RaiseRequiresGrad(), -1;
  return ExportBuffer(AsTensor(self), self, view, flags);
}

// numpy.array(t) and bytes(t), which copy, ask for what a memoryview asks for: a layout of any
// kind.
bool CheckCopiesNothing(int flags) {
  constexpr int kByMemoryView = PyBUF_INDIRECT | PyBUF_FORMAT;
  if (!NoCopiesScope::IsOn() || makes_pickle_buffer || (flags & kByMemoryView) != kByMemoryView) {
    return true;
  }
  RaiseExchange(absl::StrCat(NoCopiesScope::Check().message(),
                             " (A memoryview can't be told from numpy.array(t) and bytes(t), which "
                             "copy; t.numpy() shares.)"));
  return false;
}

// While something listens, or this or another thread is in no_copies().
[[gnu::noinline, gnu::cold]] int GetCheckedBuffer(PyObject* self, Py_buffer* view, int flags) {
  const TracedExport traced("buffer", self, AsTensor(self));
  return CheckCopiesNothing(flags) ? GetBuffer(self, view, flags) : -1;
}

}  // namespace

PyObject* NewPickleBuffer(PyObject*, PyObject* self) {
  if (!CheckIsTensor(self)) return nullptr;
  makes_pickle_buffer = true;
  PyObject* const buffer = PyPickleBuffer_FromObject(self);
  makes_pickle_buffer = false;
  return buffer;
}

int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags) {
  if (view == nullptr) {
    RaiseExchange("A buffer can't be asked for without a view to fill.");
    return -1;
  }
  view->obj = nullptr;
  if (IsObserved()) [[unlikely]]
    return GetCheckedBuffer(self, view, flags);
  return GetBuffer(self, view, flags);
}

void ReleaseTensorBuffer(PyObject*, Py_buffer* view) { ReleaseExportedBuffer(view); }

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
