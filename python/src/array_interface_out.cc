#include "dovetail/python/src/array_interface_out.h"

#include <nanobind/nanobind.h>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/array_interface/typestr.h"
#include "dovetail/interop/buffer/strided.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/buffer_protocol.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/host_ready.h"
#include "dovetail/python/src/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

nb::object ByteStrides(const Tensor& tensor) {
  if (tensor.is_contiguous()) return nb::none();
  Dims strides(tensor.rank());
  FillByteStrides(tensor.layout(), tensor.dtype().itemsize(), strides.data());
  return nb::steal(ShapeToPython(strides));
}

std::nullptr_t RaiseAbsent(std::string_view why) {
  return Raise(PyExc_AttributeError, absl::StrCat("__array_interface__ is absent: ", why));
}

}  // namespace

PyObject* ArrayInterfaceDict(const Tensor& tensor, const std::string& typestr, const void* data) {
  constexpr int kVersion = 3;
  nb::object shape = nb::steal(ShapeToPython(tensor.shape()));
  nb::object strides = ByteStrides(tensor);
  nb::object address = nb::steal(PyLong_FromVoidPtr(const_cast<void*>(data)));
  if (!shape.is_valid() || !strides.is_valid() || !address.is_valid()) return nullptr;
  return Py_BuildValue("{s:i,s:O,s:s,s:(OO),s:O}", "version", kVersion, "shape", shape.ptr(),
                       "typestr", typestr.c_str(), "data", address.ptr(),
                       tensor.is_read_only() ? Py_True : Py_False, "strides", strides.ptr());
}

PyObject* TensorArrayInterface(PyObject* self, void*) {
  const Tensor& tensor = AsTensor(self);
  if (!IsHostAccessible(tensor.device().type)) {
    return RaiseAbsent(
        absl::StrCat("the host can't reach memory on ", tensor.device().ToString(), "."));
  }
  if (AsTensorObject(self)->requires_grad) {
    return RaiseAbsent("the tensor requires gradient; use tensor.detach().");
  }
  absl::StatusOr<std::string> typestr = TypestrFromDType(tensor.dtype());
  if (!typestr.ok()) return RaiseAbsent(typestr.status().message());
  if (!WaitUntilReady(tensor)) return nullptr;
  return ArrayInterfaceDict(tensor, *typestr, AddressOf(tensor));
}

}  // namespace dovetail::python
