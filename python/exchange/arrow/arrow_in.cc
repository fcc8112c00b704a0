#include "dovetail/python/exchange/arrow/arrow_in.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/python/exchange/arrow/arrow_capsule.h"
#include "dovetail/python/exchange/lifetime/thread_end.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/support/find_attribute.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kDeviceArray[] = "__arrow_c_device_array__";
constexpr char kArray[] = "__arrow_c_array__";
constexpr char kStream[] = "__arrow_c_stream__";

// Calls the producer's method and takes both structs out of its capsules.
template <typename Array>
bool Take(const nb::object& method, const char* name, Tensor* tensor) {
  nb::object pair = nb::steal(HangAtThreadEnd([&] { return PyObject_CallNoArgs(method.ptr()); }));
  if (!pair.is_valid()) return false;
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    PyErr_Format(PyExc_TypeError, "%s() returned %.200s, not a pair of capsules", name,
                 Py_TYPE(pair.ptr())->tp_name);
    return false;
  }
  auto* schema = ArrowOf<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0));
  if (schema == nullptr) return false;
  auto* array = ArrowOf<Array>(PyTuple_GET_ITEM(pair.ptr(), 1));
  if (array == nullptr) return false;
  absl::StatusOr<Tensor> taken = FromArrow(schema, array);
  if (!taken.ok()) return RaiseExchange(taken.status()), false;
  *tensor = *std::move(taken);
  return true;
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

bool ImportArrow(PyObject* x, Tensor* tensor) {
  nb::object method;
  if (!FindAttribute(x, kDeviceArray, &method)) return false;
  if (method.is_valid()) return Take<ArrowDeviceArray>(method, kDeviceArray, tensor);
  if (!FindAttribute(x, kArray, &method)) return false;
  if (method.is_valid()) return Take<ArrowArray>(method, kArray, tensor);
  return RaiseWithout(x), false;
}

}  // namespace dovetail::python
