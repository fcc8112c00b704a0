#include "dovetail/python/src/arrow_out.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/arrow_capsule.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kRequestedSchema[] = "requested_schema";

// A request is met as far as it can be without computing: by the array as it is.
bool CheckRequest(PyObject* requested) {
  if (!IsGiven(requested)) return true;
  const auto* schema = ArrowOf<ArrowSchema>(requested);
  if (schema == nullptr) return false;
  if (schema->release == nullptr || schema->format == nullptr) {
    RaiseExchange("The requested schema was released already.");
    return false;
  }
  if (schema->format[0] == '+') {
    RaiseExchange(absl::StrCat("A tensor can't be an Arrow array of the nested format \"",
                               schema->format, "\"."));
    return false;
  }
  return true;
}

template <typename Array>
PyObject* Export(PyObject* self, PyObject* requested_schema) {
  if (!CheckRequest(requested_schema)) return nullptr;
  if (AsTensorObject(self)->requires_grad) return RaiseRequiresGrad();
  auto schema = std::make_unique<ArrowSchema>();
  auto array = std::make_unique<Array>();
  absl::Status status = ToArrow(AsTensor(self), schema.get(), array.get());
  if (!status.ok()) return RaiseExchange(status);
  nb::object array_capsule = MakeArrowCapsule(std::move(array));
  nb::object schema_capsule = MakeArrowCapsule(std::move(schema));
  if (!array_capsule.is_valid() || !schema_capsule.is_valid()) return nullptr;
  return PyTuple_Pack(2, schema_capsule.ptr(), array_capsule.ptr());
}

}  // namespace

PyObject* TensorArrowArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames) {
  static const Signature kSignature("__arrow_c_array__", 1, 0, {kRequestedSchema});
  PyObject* requested_schema;
  if (!kSignature.Parse(args, nargs, kwnames, &requested_schema)) return nullptr;
  return Export<ArrowArray>(self, requested_schema);
}

PyObject* TensorArrowDeviceArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames) {
  static const Signature kSignature("__arrow_c_device_array__", 1, 0, {kRequestedSchema});
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

}  // namespace dovetail::python
