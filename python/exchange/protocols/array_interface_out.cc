#include "dovetail/python/exchange/protocols/array_interface_out.h"

#include <nanobind/nanobind.h>

#include "dovetail/interop/buffer/strided.h"
#include "dovetail/python/exchange/base/integers.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

nb::object ByteStrides(const Tensor& tensor) {
  if (tensor.is_contiguous()) return nb::none();
  Dims strides(tensor.rank());
  FillByteStrides(tensor.layout(), tensor.dtype().itemsize(), strides.data());
  return nb::steal(ShapeToPython(strides));
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

}  // namespace dovetail::python
