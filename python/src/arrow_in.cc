#include "dovetail/python/src/arrow_in.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/python/src/arrow_capsule.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/find_attribute.h"
#include "dovetail/python/src/tensor_object.h"
#include "dovetail/python/src/thread_end.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kDeviceArray[] = "__arrow_c_device_array__";
constexpr char kArray[] = "__arrow_c_array__";
constexpr char kStream[] = "__arrow_c_stream__";

// Calls the producer's method and takes both structs out of its capsules.
template <typename Array>
PyObject* Take(const nb::object& method, const char* name) {
  nb::object pair = nb::steal(HangAtThreadEnd([&] { return PyObject_CallNoArgs(method.ptr()); }));
  if (!pair.is_valid()) return nullptr;
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    PyErr_Format(PyExc_TypeError, "%s() returned %.200s, not a pair of capsules", name,
                 Py_TYPE(pair.ptr())->tp_name);
    return nullptr;
  }
  auto* schema = ArrowOf<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0));
  if (schema == nullptr) return nullptr;
  auto* array = ArrowOf<Array>(PyTuple_GET_ITEM(pair.ptr(), 1));
  if (array == nullptr) return nullptr;
  absl::StatusOr<Tensor> tensor = FromArrow(schema, array);
  if (!tensor.ok()) return RaiseExchange(tensor.status());
  return WrapTensor(*std::move(tensor));
}

std::nullptr_t RaiseWithout(PyObject* x) {
  nb::object stream;
  if (!FindAttribute(x, kStream, &stream)) return nullptr;
  const char* type = Py_TYPE(x)->tp_name;
  if (stream.is_valid()) {
    return RaiseExchange(
        absl::StrCat("A ", type, " may be in several pieces of memory (it has ", kStream,
                     "), and a tensor is in "
                     "one. Combine them first, as with pyarrow's combine_chunks()."));
  }
  return Raise(PyExc_AttributeError, absl::StrCat("'", type, "' object has no attribute '", kArray,
                                                  "' or '", kDeviceArray, "'"));
}

}  // namespace

PyObject* FromArrowFunction(PyObject*, PyObject* x) {
  nb::object method;
  if (!FindAttribute(x, kDeviceArray, &method)) return nullptr;
  if (method.is_valid()) return Take<ArrowDeviceArray>(method, kDeviceArray);
  if (!FindAttribute(x, kArray, &method)) return nullptr;
  if (method.is_valid()) return Take<ArrowArray>(method, kArray);
  return RaiseWithout(x);
}

}  // namespace dovetail::python
