#include "dovetail/python/exchange/protocols/cuda_array.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/cuda_array/export.h"
#include "dovetail/interop/cuda_array/import.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/protocols/array_fields.h"
#include "dovetail/python/exchange/protocols/array_interface_out.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kAttribute[] = "__cuda_array_interface__";

bool Take(PyObject* x, const ArrayFields& fields, Tensor* tensor) {
  CudaArrayDescription array;
  std::optional<int64_t> version;
  if (!fields.DescribeAddress(&array.array) || !fields.FindInt("version", &version) ||
      !fields.FindInt("stream", &array.stream)) {
    return false;
  }
  if (!version) return fields.Refuse("it has no entry \"version\"");
  array.version = *version;
  absl::Status status = ImportCudaArray(array, ReleaseObject(Py_NewRef(x)), tensor);
  return status.ok() || (RaiseExchange(status), false);
}

}  // namespace

ExchangeResult ImportByCudaArrayInterface(PyObject* x, Tensor* tensor) {
  ArrayFields fields;
  if (!fields.Read(x, kAttribute)) return ExchangeResult::kError;
  if (!fields.found()) return ExchangeResult::kNotTaken;
  return Take(x, fields, tensor) ? ExchangeResult::kDone : ExchangeResult::kError;
}

PyObject* ExportCudaArrayInterface(const Tensor& tensor) {
  absl::StatusOr<CudaArrayExport> out = ExportCudaArray(tensor);
  if (absl::IsInvalidArgument(out.status())) {
    return Raise(PyExc_AttributeError,
                 absl::StrCat(kAttribute, " is absent: ", out.status().message()));
  }
  if (!out.ok()) return RaiseExchange(out.status());
  nb::object dict = nb::steal(ArrayInterfaceDict(tensor, out->typestr, out->data));
  nb::object stream = out->stream ? nb::steal(PyLong_FromLongLong(*out->stream)) : nb::none();
  if (!dict.is_valid() || !stream.is_valid() ||
      PyDict_SetItemString(dict.ptr(), "stream", stream.ptr()) != 0) {
    return nullptr;
  }
  return dict.release().ptr();
}

}  // namespace dovetail::python
