#include "dovetail/python/exchange/protocols/arrow.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/interop/arrow/c_data.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/fixed_shape.h"
#include "dovetail/interop/arrow/format_table.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/arrow/stream.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/thread_end.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The name of a capsule with that struct. Its destructor releases the struct unless it was moved
// out: then `release` is NULL, and the capsule keeps its name.
template <typename Struct>
constexpr char kArrowName[] = "";
template <>
constexpr char kArrowName<ArrowSchema>[] = "arrow_schema";
template <>
constexpr char kArrowName<ArrowArray>[] = "arrow_array";
template <>
constexpr char kArrowName<ArrowDeviceArray>[] = "arrow_device_array";
template <>
constexpr char kArrowName<ArrowArrayStream>[] = "arrow_array_stream";

void ReleaseArrow(ArrowSchema& schema) {
  if (schema.release != nullptr) schema.release(&schema);
}
void ReleaseArrow(ArrowArray& array) {
  if (array.release != nullptr) array.release(&array);
}
void ReleaseArrow(ArrowDeviceArray& array) { ReleaseArrow(array.array); }

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
nb::object MakeArrowCapsule(std::unique_ptr<Struct> filled) {
  PyObject* capsule = PyCapsule_New(filled.get(), kArrowName<Struct>, &DestroyArrowCapsule<Struct>);
  if (capsule == nullptr) {
    ReleaseArrow(*filled);
  } else {
    filled.release();
  }
  return nb::steal(capsule);
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

constinit InternedName device_array("__arrow_c_device_array__");
constinit InternedName array("__arrow_c_array__");
constinit InternedName stream("__arrow_c_stream__");

nb::object Call(const nb::object& method) {
  return nb::steal(HangAtThreadEnd([&] { return PyObject_CallNoArgs(method.ptr()); }));
}

bool Assign(absl::StatusOr<Tensor> taken, Tensor* tensor) {
  if (!taken.ok()) return RaiseExchange(taken.status()), false;
  *tensor = *std::move(taken);
  return true;
}

template <typename Array>
bool TakePair(PyObject* pair, const char* name, Tensor* tensor) {
  if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
    PyErr_Format(PyExc_TypeError, "%s() returned %.200s, not a pair of capsules", name,
                 Py_TYPE(pair)->tp_name);
    return false;
  }
  // Other threads may be taking from the same capsules. (Does nothing in builds with the GIL.)
  const nb::ft_object2_guard guard(PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
  auto* schema = ArrowOf<ArrowSchema>(PyTuple_GET_ITEM(pair, 0));
  if (schema == nullptr) return false;
  auto* taken = ArrowOf<Array>(PyTuple_GET_ITEM(pair, 1));
  return taken != nullptr && Assign(FromArrow(schema, taken), tensor);
}

bool TakeStream(PyObject* capsule, const char*, Tensor* tensor) {
  const nb::ft_object_guard guard(capsule);  // as above
  auto* given = ArrowOf<ArrowArrayStream>(capsule);
  if (given == nullptr) return false;
  nb::object raised;  // by a signal's handler; set aside until the producer has released the stream
  const ScopedInterruption stop_at_signals(
      [](void* error) {
        if (PyErr_CheckSignals() == 0) return false;
        *static_cast<nb::object*>(error) = nb::steal(TakeError());
        return true;
      },
      &raised);
  absl::StatusOr<Tensor> taken = FromArrow(given);
  if (raised.is_valid()) return RestoreError(raised.release().ptr()), false;
  return Assign(std::move(taken), tensor);
}

// Calls the producer's method and takes the structs out of what it returns.
bool Take(const nb::object& method, const char* name, Tensor* tensor,
          bool (*take)(PyObject* returned, const char* name, Tensor* tensor)) {
  nb::object returned = Call(method);
  if (!returned.is_valid()) return false;
  if (take(returned.ptr(), name, tensor)) return true;
  DropBesideError(&returned);
  return false;
}

std::nullptr_t RaiseWithout(PyObject* x) {
  return Raise(PyExc_AttributeError,
               absl::StrCat("'", Py_TYPE(x)->tp_name, "' object has no attribute '", array.text(),
                            "', '", device_array.text(), "' or '", stream.text(), "'"));
}

}  // namespace

bool ImportArrow(PyObject* x, Tensor* tensor) {
  nb::object method;
  if (!FindAttribute(x, device_array.get(), &method)) return false;
  if (method.is_valid()) {
    return Take(method, device_array.text(), tensor, &TakePair<ArrowDeviceArray>);
  }
  if (!FindAttribute(x, array.get(), &method)) return false;
  if (method.is_valid()) return Take(method, array.text(), tensor, &TakePair<ArrowArray>);
  if (!FindAttribute(x, stream.get(), &method)) return false;
  if (method.is_valid()) return Take(method, stream.text(), tensor, &TakeStream);
  return RaiseWithout(x), false;
}

namespace {

// Whether these are lists of numbers.
bool IsFlat(const ArrowSchema& lists) {
  return lists.n_children == 1 && lists.children[0]->format != nullptr &&
         lists.children[0]->format[0] != '+';
}

// A request is met as far as it can be without computing: by lists or by fixed shape tensors.
bool ReadRequest(PyObject* requested, ToArrowOptions* options) {
  if (requested == nullptr || requested == Py_None) return true;
  const auto* schema = ArrowOf<ArrowSchema>(requested);
  if (schema == nullptr) return false;
  if (schema->release == nullptr || schema->format == nullptr) {
    RaiseExchange("The requested schema was released already.");
    return false;
  }
  if (schema->format[0] == '+' && !FixedListSize(schema->format)) {
    RaiseExchange(absl::StrCat("A tensor can't be an Arrow array of the nested format \"",
                               schema->format, "\"."));
    return false;
  }
  if (IsFixedShapeTensor(*schema)) {
    options->nesting = ArrowNesting::kFixedShapeTensor;
  } else if (schema->format[0] == '+' && IsFlat(*schema)) {
    options->nesting = ArrowNesting::kFlatLists;
  }
  return true;
}

}  // namespace

template <typename Array>
PyObject* ExportArrow(const Tensor& tensor, PyObject* requested_schema) {
  ToArrowOptions options;
  if (!ReadRequest(requested_schema, &options)) return nullptr;
  auto schema = std::make_unique<ArrowSchema>();
  auto array = std::make_unique<Array>();
  absl::Status status = ToArrow(tensor, schema.get(), array.get(), options);
  if (!status.ok()) return RaiseExchange(status);
  nb::object array_capsule = MakeArrowCapsule(std::move(array));
  nb::object schema_capsule = MakeArrowCapsule(std::move(schema));
  if (!array_capsule.is_valid() || !schema_capsule.is_valid()) return nullptr;
  return PyTuple_Pack(2, schema_capsule.ptr(), array_capsule.ptr());
}

template PyObject* ExportArrow<ArrowArray>(const Tensor&, PyObject*);
template PyObject* ExportArrow<ArrowDeviceArray>(const Tensor&, PyObject*);

}  // namespace dovetail::python
