#include "dovetail/python/exchange/protocols/arrow_out.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/fixed_shape.h"
#include "dovetail/interop/arrow/format_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/arrow_capsule.h"

namespace nb = nanobind;

namespace dovetail::python {
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
