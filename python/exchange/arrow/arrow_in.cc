#include "dovetail/python/exchange/arrow/arrow_in.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/arrow/stream.h"
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

nb::object Call(const nb::object& method) {
  return nb::steal(HangAtThreadEnd([&] { return PyObject_CallNoArgs(method.ptr()); }));
}

bool Assign(absl::StatusOr<Tensor> taken, Tensor* tensor) {
  if (!taken.ok()) return RaiseExchange(taken.status()), false;
  *tensor = *std::move(taken);
  return true;
}

// Calls the producer's method and takes both structs out of its capsules.
template <typename Array>
bool Take(const nb::object& method, const char* name, Tensor* tensor) {
  const nb::object pair = Call(method);
  if (!pair.is_valid()) return false;
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    PyErr_Format(PyExc_TypeError, "%s() returned %.200s, not a pair of capsules", name,
                 Py_TYPE(pair.ptr())->tp_name);
    return false;
  }
  // Other threads may be taking from the same capsules. (Does nothing in builds with the GIL.)
  const nb::ft_object2_guard guard(PyTuple_GET_ITEM(pair.ptr(), 0),
                                   PyTuple_GET_ITEM(pair.ptr(), 1));
  auto* schema = ArrowOf<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0));
  if (schema == nullptr) return false;
  auto* array = ArrowOf<Array>(PyTuple_GET_ITEM(pair.ptr(), 1));
  return array != nullptr && Assign(FromArrow(schema, array), tensor);
}

bool TakeStream(const nb::object& method, Tensor* tensor) {
  const nb::object capsule = Call(method);
  if (!capsule.is_valid()) return false;
  const nb::ft_object_guard guard(capsule);  // as above
  auto* stream = ArrowOf<ArrowArrayStream>(capsule.ptr());
  return stream != nullptr && Assign(FromArrow(stream), tensor);
}

std::nullptr_t RaiseWithout(PyObject* x) {
  return Raise(PyExc_AttributeError,
               absl::StrCat("'", Py_TYPE(x)->tp_name, "' object has no attribute '", kArray, "', '",
                            kDeviceArray, "' or '", kStream, "'"));
}

}  // namespace

bool ImportArrow(PyObject* x, Tensor* tensor) {
  nb::object method;
  if (!FindAttribute(x, kDeviceArray, &method)) return false;
  if (method.is_valid()) return Take<ArrowDeviceArray>(method, kDeviceArray, tensor);
  if (!FindAttribute(x, kArray, &method)) return false;
  if (method.is_valid()) return Take<ArrowArray>(method, kArray, tensor);
  if (!FindAttribute(x, kStream, &method)) return false;
  if (method.is_valid()) return TakeStream(method, tensor);
  return RaiseWithout(x), false;
}

}  // namespace dovetail::python
