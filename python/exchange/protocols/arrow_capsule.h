// The capsules of Arrow's PyCapsule interface. Each holds one struct, which the capsule's
// destructor releases unless it was moved out.
//
//   auto out = std::make_unique<ArrowSchema>();  …fill it in…
//   nb::object capsule = MakeArrowCapsule(std::move(out));
//   ArrowArray* array = ArrowOf<ArrowArray>(capsule.ptr());      // nullptr with an error set
//
// After a struct was moved out, its `release` is NULL; the capsule keeps its name. Source:
// arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html. Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_CAPSULE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_CAPSULE_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/c_data.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARROW_CAPSULE_H_
