// Arrow's PyCapsule interface, in both directions.
//
//   Tensor tensor;
//   if (!ImportArrow(x, &tensor)) return nullptr;        // x is a pyarrow.array([1, 2, 3])
//   return ExportArrow<ArrowArray>(tensor, requested_schema);
//
// What comes in: arrays of numbers without nulls, of lists of a fixed size, and of fixed shape
// tensors; columns in one piece, such as a pandas or polars Series. The tensor is read-only and
// shares the memory. Source: arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
// Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {

// The name of a capsule with that struct. Its destructor releases the struct unless it was moved
// out: then `release` is NULL, and the capsule keeps its name.
template <typename Struct>
inline constexpr char kArrowName[] = "";
template <>
inline constexpr char kArrowName<ArrowSchema>[] = "arrow_schema";
template <>
inline constexpr char kArrowName<ArrowArray>[] = "arrow_array";
template <>
inline constexpr char kArrowName<ArrowDeviceArray>[] = "arrow_device_array";
template <>
inline constexpr char kArrowName<ArrowArrayStream>[] = "arrow_array_stream";

inline void ReleaseArrow(ArrowSchema& schema) {
  if (schema.release != nullptr) schema.release(&schema);
}
inline void ReleaseArrow(ArrowArray& array) {
  if (array.release != nullptr) array.release(&array);
}
inline void ReleaseArrow(ArrowDeviceArray& array) { ReleaseArrow(array.array); }

// Frees the struct, and its contents unless they were moved out. Preserves the current exception.
template <typename Struct>
void DestroyArrowCapsule(PyObject* capsule) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  auto* held = static_cast<Struct*>(PyCapsule_GetPointer(capsule, kArrowName<Struct>));
  ReleaseArrow(*held);
  delete held;
  PyErr_Restore(type, value, traceback);
}

// A new capsule that owns the filled struct; invalid with an error set, and the struct released.
template <typename Struct>
nanobind::object MakeArrowCapsule(std::unique_ptr<Struct> filled) {
  PyObject* capsule = PyCapsule_New(filled.get(), kArrowName<Struct>, &DestroyArrowCapsule<Struct>);
  if (capsule == nullptr) {
    ReleaseArrow(*filled);
  } else {
    filled.release();
  }
  return nanobind::steal(capsule);
}

// The struct in a capsule, which still owns it; nullptr with an ExchangeError set for anything
// else.
template <typename Struct>
Struct* ArrowOf(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kArrowName<Struct>)) {
    return static_cast<Struct*>(PyCapsule_GetPointer(capsule, kArrowName<Struct>));
  }
  return RaiseExchange(absl::StrCat("Expected a capsule named \"", kArrowName<Struct>,
                                    "\", not this ", Py_TYPE(capsule)->tp_name, "."));
}

// `x` has __arrow_c_device_array__, __arrow_c_array__ or __arrow_c_stream__, of which the first in
// this order is called. False with an error set: AttributeError for an object with none,
// ExchangeError for an array that can't be a tensor and for a stream of several arrays, or what `x`
// raises.
bool ImportArrow(PyObject* x, Tensor* tensor);

// A pair of capsules, the schema and the array, that share the memory. `Array` is
// ArrowArray or ArrowDeviceArray. `requested_schema` is a capsule, None or nullptr: it chooses
// among lists, flat lists and fixed shape tensors (interop/arrow/export.h); None means lists.
// Numbers are not converted, as the protocol allows. nullptr with an ExchangeError set for what
// Arrow can't hold and for a requested schema with fields.
template <typename Array>
PyObject* ExportArrow(const Tensor& tensor, PyObject* requested_schema);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_H_
